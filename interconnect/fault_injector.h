// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/fabric.h"
#include "interconnect/faults.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Injects faults at their times. Throws SimulationError for an unknown component.
class FaultInjector final : private EventHandler {
public:
    /// `seed`: for the random streams of bit errors, one per link, named after it.
    FaultInjector(Fabric& fabric, std::vector<FaultParams> faults, std::uint64_t seed);

private:
    void on_event(std::uint64_t tag) override;
    [[nodiscard]] InSkip in_skip() const override { return InSkip::kEnds; }
    void apply(const FaultParams& fault);

    Fabric& fabric_;
    std::vector<FaultParams> faults_;
    std::uint64_t seed_;
};

}  // namespace switchfold
