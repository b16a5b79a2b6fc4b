// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"

#include <cstdint>
#include <vector>

namespace switchfold {

struct Neighbour {
    std::uint32_t node;
    std::uint32_t hop;  ///< direction of the edge away from this node (hop.h)
};
/// By node, in the order of edges.
using Adjacency = std::vector<std::vector<Neighbour>>;

/// The neighbours of each node over the edges for which `takes(edge)` is true.
template <class Takes>
[[nodiscard]] Adjacency adjacency_of(const Topology& topology, Takes takes) {
    Adjacency neighbours(topology.nodes.size());
    for (std::uint32_t i = 0; i < topology.edges.size(); ++i) {
        const TopologyEdge& edge = topology.edges[i];
        if (!takes(edge))
            continue;
        neighbours[edge.a].push_back({edge.b, hop_from_a(i)});
        neighbours[edge.b].push_back({edge.a, hop_from_b(i)});
    }
    return neighbours;
}
/// Over all edges that are not down.
[[nodiscard]] inline Adjacency adjacency_of(const Topology& topology) {
    return adjacency_of(topology, [](const TopologyEdge& edge) { return !edge.down; });
}

}  // namespace switchfold
