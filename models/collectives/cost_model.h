// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/tuning.h"

#include <cstdint>

namespace switchfold {

/// NCCL's own estimate of an all-reduce, by which it chooses: latency + bytes / bandwidth
/// (src/graph/tuning.cc:139-437, v2.30). The machine's bandwidths are ours, the constants NCCL's.
/// It is what the library believes, not what the simulation gives.
class CostModel {
public:
    CostModel(TunerGeneration generation, const MachineView& machine);

    [[nodiscard]] Time ring(Protocol protocol, std::uint32_t channels, Bytes bytes) const;
    /// NVLS inside one machine. kTimeMax where this generation or this switch has none.
    [[nodiscard]] Time in_switch(Bytes bytes) const;

private:
    struct Generation;
    static const Generation& constants_of(TunerGeneration generation);

    const Generation& constants_;
    MachineView machine_;
};

}  // namespace switchfold
