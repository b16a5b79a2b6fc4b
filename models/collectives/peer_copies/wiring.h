// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/path_finder.h"
#include "interconnect/topology.h"
#include "models/collectives/peer_copies/reduce_tree.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Share of each link (a hop, hop.h) in what one GPU sends to another over all routes. Empty if
/// there is none.
[[nodiscard]] std::vector<LinkUse>
links_between(PathFinder& finder, std::uint32_t from, std::uint32_t to);

/// Paths between these ranks, with hops (hop.h) as links; empty for disconnected pairs.
[[nodiscard]] Wiring wiring_of(const Topology& topology, const std::vector<std::uint32_t>& ranks);

}  // namespace switchfold
