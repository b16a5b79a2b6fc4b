// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/tuning.h"

#include <cstdint>
#include <span>

namespace switchfold {

/// NCCL's own estimate of a collective, on which its choice is based: latency + bytes / bandwidth
/// (src/graph/tuning.cc:139-437, v2.30). Bandwidths are those of the simulated machine, constants
/// are NCCL's. This is NCCL's prediction, not the simulation's. kTimeMax: not available on this GPU
/// generation or machine.
class CostModel {
public:
    CostModel(
        const CollectiveParams& params, const MachineView& machine,
        CollectiveKind kind = CollectiveKind::kAllReduce);

    [[nodiscard]] Time ring(Protocol protocol, Bytes bytes) const;
    /// A chain inside each machine, double binary trees between machines.
    [[nodiscard]] Time tree(Protocol protocol, Bytes bytes) const;
    /// NVLS inside one machine.
    [[nodiscard]] Time in_switch(Bytes bytes) const;
    /// NVLS inside the machines, a tree between their heads.
    [[nodiscard]] Time switched_tree(Bytes bytes) const;
    /// NVLS inside the machines; the network reduces their sums.
    [[nodiscard]] Time collnet(Bytes bytes) const;

private:
    struct Generation;
    struct AtScale;
    static const Generation& constants_of(TunerGeneration generation, std::uint32_t version);

    [[nodiscard]] const AtScale& at_scale() const;
    [[nodiscard]] double links_bus() const;  ///< GB/s, of a GPU's links in one machine
    [[nodiscard]] double ring_bus() const;   ///< GB/s, of all rings that NCCL's search finds
    /// Most bus bandwidth of LL, GB/s.
    [[nodiscard]] double most_ll() const;
    /// Channels of NCCL's search, by which it limits bandwidths.
    [[nodiscard]] double searched_channels() const;
    [[nodiscard]] double rails() const;       ///< GB/s of bus bandwidth of trees across the network
    [[nodiscard]] double tree_rails() const;  ///< the same of trees that no switch adds for

    const Generation& constants_;
    std::span<const double> speeds_;
    double most_across_;  ///< GB/s of a rail in NCCL's search
    CollectiveKind kind_;
    HostProcessor host_;
    std::uint32_t version_;  ///< of NCCL
    MachineView machine_;
    double channels_;         ///< before the reduction for small sizes
    double network_latency_;  ///< us per hop between machines, in addition to NCCL's constants
};

}  // namespace switchfold
