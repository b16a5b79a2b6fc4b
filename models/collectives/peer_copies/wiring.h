// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/path_finder.h"
#include "interconnect/topology.h"
#include "models/collectives/peer_copies/reduce_tree.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// What each link, a hop (hop.h), carries of what one GPU sends another over all its ways. Empty
/// where there is none.
[[nodiscard]] std::vector<LinkUse>
links_between(PathFinder& finder, std::uint32_t from, std::uint32_t to);

/// How these ranks reach each other: links are hops (hop.h). A pair without a way has none.
[[nodiscard]] Wiring wiring_of(const Topology& topology, const std::vector<std::uint32_t>& ranks);

}  // namespace switchfold
