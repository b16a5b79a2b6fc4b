// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/rank_symmetry.h"

#include "interconnect/hop.h"

#include <algorithm>
#include <numeric>

namespace switchfold {

RankSymmetry::RankSymmetry(const Topology& topology, std::uint32_t ranks) :
    image_of_rank(ranks),
    image_of_hop(2 * topology.edges.size(), kIdle),
    image_of_node(topology.nodes.size(), kIdle) {
    std::iota(image_of_rank.begin(), image_of_rank.end(), 0U);
}

std::vector<std::uint32_t> RankSymmetry::kept() const {
    std::vector<std::uint32_t> all;
    for (std::uint32_t rank = 0; rank < ranks(); ++rank)
        if (image_of_rank[rank] == rank)
            all.push_back(rank);
    return all;
}

bool RankSymmetry::set(std::uint32_t& image, std::uint32_t value) {
    if (image == kIdle)
        image = value;
    return image == value;
}

bool RankSymmetry::set_hop(std::uint32_t hop, std::uint32_t image) {
    return set(image_of_hop[hop], image) && set(image_of_hop[reversed(hop)], reversed(image));
}

bool same_link(const Topology& topology, std::uint32_t hop, std::uint32_t other) {
    const TopologyEdge& a = topology.edges[edge_of(hop)];
    const TopologyEdge& b = topology.edges[edge_of(other)];
    return a.lanes == b.lanes && a.link_class == b.link_class;
}

bool alike(const Topology& topology, std::uint32_t hop, std::uint32_t other) {
    const TopologyNode& end = topology.nodes[topology.end_of(hop)];
    const TopologyNode& other_end = topology.nodes[topology.end_of(other)];
    return same_link(topology, hop, other) && end.kind == other_end.kind &&
           end.switch_class == other_end.switch_class;
}

bool one_nic_each(const Topology& topology) {
    return std::ranges::all_of(
        nearest_nics(topology), [](const auto& nics) { return nics.size() == 1; });
}

}  // namespace switchfold
