// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/adjacency.h"
#include "interconnect/topology.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Rings over `ranks`, each a permutation of them. Neighbours are joined by a direct edge, and no
/// lane is used twice in the same direction. \returns all rings found; empty if there is none.
/// - GPUs attached to switches: every order is equivalent, so one ring in the given order.
/// - Without a ring over direct edges, in a topology with relays: a GPU of the group may relay
///   between neighbours, and its lanes count as well (NCCL's search falls back to NVB,
///   graph/search.cc).
[[nodiscard]] std::vector<std::vector<std::uint32_t>>
find_rings(const Topology& topology, const std::vector<std::uint32_t>& ranks);
/// The same with the neighbours of the topology's nodes, for one who asks of many groups.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> find_rings(
    const Topology& topology, const Adjacency& neighbours, const std::vector<std::uint32_t>& ranks);

}  // namespace switchfold
