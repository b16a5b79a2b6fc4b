// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"
#include "models/collectives/choice/machine_view.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// The ranks of a call on their machine. It refers to what it is made of.
class CallGroup {
public:
    CallGroup(
        const Topology& topology, const std::vector<std::uint32_t>& ranks, Bytes transfer_unit) :
        topology_(topology), ranks_(ranks), transfer_unit_(transfer_unit) {}
    /// `machine`: what view_group() says of these ranks.
    CallGroup(
        const Topology& topology, const std::vector<std::uint32_t>& ranks,
        const MachineView& machine) :
        topology_(topology), ranks_(ranks), known_(&machine) {}

    [[nodiscard]] const Topology& topology() const { return topology_; }
    [[nodiscard]] const std::vector<std::uint32_t>& ranks() const { return ranks_; }
    /// Computed when first asked for: it costs searches for paths.
    [[nodiscard]] const MachineView& machine() const {
        if (known_ != nullptr)
            return *known_;
        if (!seen_)
            seen_ = view_group(topology_, transfer_unit_, ranks_).machine;
        return *seen_;
    }

private:
    const Topology& topology_;
    const std::vector<std::uint32_t>& ranks_;
    Bytes transfer_unit_;
    const MachineView* known_ = nullptr;
    mutable std::optional<MachineView> seen_;
};

}  // namespace switchfold
