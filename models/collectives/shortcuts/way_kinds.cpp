// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/way_kinds.h"

#include "interconnect/hop.h"
#include "interconnect/node_kinds.h"

#include <algorithm>

namespace switchfold {

WayKinds::WayKinds(const Topology& topology) :
    finder_(topology), kinds_(kinds_of_nodes(topology)), nodes_(kinds_.size()) {
    std::map<std::vector<std::uint32_t>, std::uint32_t> known;
    for (std::uint32_t hop = 0; hop < 2 * topology.edges.size(); ++hop) {
        const TopologyEdge& edge = topology.edges[edge_of(hop)];
        const std::vector<std::uint32_t> key{
            kinds_[topology.end_of(reversed(hop))], kinds_[topology.end_of(hop)], edge.link_class,
            edge.lanes};
        const auto next = static_cast<std::uint32_t>(known.size());
        kind_of_hop_.push_back(known.emplace(key, next).first->second);
    }
    hops_.resize(known.size());
    for (const std::uint32_t kind : kind_of_hop_)
        ++hops_[kind];
    for (const std::uint32_t kind : kinds_)
        ++nodes_[kind];
}

std::uint32_t WayKinds::of(const std::vector<Path>& ways) {
    Profile profile;
    for (const Path& way : ways) {
        std::vector<std::uint32_t> kinds;
        for (const std::uint32_t hop : way.hops)
            kinds.push_back(kind_of_hop_[hop]);
        profile.emplace_back(std::move(kinds), way.weight);
    }
    std::ranges::sort(profile);
    const auto next = static_cast<std::uint32_t>(known_.size() + 1);
    return known_.emplace(std::move(profile), next).first->second;
}

}  // namespace switchfold
