// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "interconnect/topology.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// For each GPU, the hops (hop.h) of its copies to the host: over its machine's PCIe to the nearest
/// memory, or to the nearest root complex if that has no memory. Empty if the topology describes
/// none. `with_down`: includes cables that are out of service.
[[nodiscard]] std::vector<std::vector<std::uint32_t>>
host_paths(const Topology& topology, bool with_down = false);

/// Bounds on host copies in one direction, in payload bytes per second.
struct HostBound {
    Bandwidth alone;     ///< for one GPU alone; minimum over GPUs
    Bandwidth together;  ///< per GPU if all copy at once; minimum over GPUs
};
/// Nothing if no GPU has a path to a host. Data move in pieces of `piece` bytes.
[[nodiscard]] std::optional<HostBound> host_bound(const Topology& topology, Bytes piece);

}  // namespace switchfold
