// SPDX-License-Identifier: Apache-2.0
#include "interconnect/node_kinds.h"

#include "interconnect/adjacency.h"
#include "interconnect/hop.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

namespace switchfold {

std::vector<std::uint32_t> kinds_of_nodes(const Topology& topology) {
    using Around = std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>>;
    const Adjacency neighbours = adjacency_of(topology);
    std::vector<std::uint32_t> kinds(topology.nodes.size(), 0);
    std::size_t number = 0;
    while (true) {
        std::map<std::tuple<std::uint32_t, NodeKind, std::uint32_t, Around>, std::uint32_t> known;
        std::vector<std::uint32_t> finer;
        for (std::size_t node = 0; node < kinds.size(); ++node) {
            Around around;
            for (const Neighbour& next : neighbours[node]) {
                const TopologyEdge& edge = topology.edges[edge_of(next.hop)];
                around.emplace_back(edge.link_class, edge.lanes, kinds[next.node]);
            }
            std::ranges::sort(around);
            const TopologyNode& own = topology.nodes[node];
            const auto next = static_cast<std::uint32_t>(known.size());
            finer.push_back(
                known
                    .emplace(
                        std::tuple(kinds[node], own.kind, own.switch_class, std::move(around)),
                        next)
                    .first->second);
        }
        kinds = std::move(finer);
        if (known.size() == number)
            return kinds;
        number = known.size();
    }
}

}  // namespace switchfold
