// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/tuning.h"

#include <cstdint>

namespace switchfold {

/// NCCL's own estimate of a collective, by which it chooses: latency + bytes / bandwidth
/// (src/graph/tuning.cc:139-437, v2.30). The machine's bandwidths are ours, the constants NCCL's.
/// It is what the library believes, not what the simulation gives. kTimeMax is what this generation
/// or this machine has not.
class CostModel {
public:
    CostModel(
        const CollectiveParams& params,
        const MachineView& machine,
        CollectiveKind kind = CollectiveKind::kAllReduce);

    [[nodiscard]] Time ring(Protocol protocol, Bytes bytes) const;
    /// A chain inside each machine, double binary trees across.
    [[nodiscard]] Time tree(Protocol protocol, Bytes bytes) const;
    /// NVLS inside one machine.
    [[nodiscard]] Time in_switch(Bytes bytes) const;
    /// NVLS inside the machines, a tree over their heads.
    [[nodiscard]] Time switched_tree(Bytes bytes) const;
    /// NVLS inside the machines, the network adds their sums.
    [[nodiscard]] Time collnet(Bytes bytes) const;

private:
    struct Generation;
    struct AtScale;
    static const Generation& constants_of(TunerGeneration generation);

    [[nodiscard]] const AtScale& at_scale() const;
    [[nodiscard]] double ring_bus() const;  ///< GB/s
    [[nodiscard]] double rails() const;     ///< GB/s of bus bandwidth of trees over the network

    const Generation& constants_;
    CollectiveKind kind_;
    MachineView machine_;
    double channels_;         ///< before small sizes drop some
    double network_latency_;  ///< us, of a hop between machines, beside NCCL's own
};

}  // namespace switchfold
