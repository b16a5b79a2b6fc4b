// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"
#include "sim/core/units.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// For each GPU the hops (hop.h) that its copies to the host take: over the PCIe of its machine to
/// the nearest memory, or to the nearest root complex where that has none. Empty where the topology
/// describes none. `with_down`: also over cables that are out of order.
[[nodiscard]] std::vector<std::vector<std::uint32_t>>
host_paths(const Topology& topology, bool with_down = false);

/// What links let through of copies one way, in payload bytes a second.
struct HostBound {
    Bandwidth alone;     ///< of one GPU, the slowest one's
    Bandwidth together;  ///< of each where all GPUs copy, the slowest one's
};
/// Nothing where no GPU has a way to a host. `piece` bytes move at a time.
[[nodiscard]] std::optional<HostBound> host_bound(const Topology& topology, Bytes piece);

}  // namespace switchfold
