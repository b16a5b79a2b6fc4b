// SPDX-License-Identifier: Apache-2.0
#include "interconnect/rings.h"

#include "interconnect/hop.h"
#include "interconnect/relay.h"
#include "interconnect/ring_search/lane_table.h"
#include "interconnect/ring_search/searches.h"

#include <unordered_map>
#include <utility>

namespace switchfold {

namespace {

std::vector<Ring> rings_on(const LaneTable& lanes) {
    const std::size_t most = lanes.most_rings();
    if (lanes.size() == 2)
        return std::vector<Ring>(most, Ring{0, 1});
    std::vector<Ring> rings = paired_rings(lanes);
    const auto replace_by = [&](std::vector<Ring> others) {
        if (others.size() > rings.size())
            rings = std::move(others);
    };
    // Half a pair is missing where the number of lanes is odd.
    if (rings.size() + 1 < most)
        replace_by(rotated_rings(lanes));
    if (rings.size() < most)
        replace_by(one_way_rings(lanes, most));
    return rings;
}

}  // namespace

std::vector<std::vector<std::uint32_t>>
find_rings(const Topology& topology, const std::vector<std::uint32_t>& ranks) {
    return find_rings(topology, adjacency_of(topology), ranks);
}

std::vector<std::vector<std::uint32_t>> find_rings(
    const Topology& topology, const Adjacency& neighbours,
    const std::vector<std::uint32_t>& ranks) {
    std::unordered_map<std::uint32_t, std::uint32_t> position;
    for (std::uint32_t i = 0; i < ranks.size(); ++i)
        position[ranks[i]] = i;
    LaneTable lanes(ranks.size());
    bool direct = false;
    bool through_switch = false;
    for (std::uint32_t i = 0; i < ranks.size(); ++i)
        for (const Neighbour& other : neighbours[ranks[i]]) {
            const auto there = position.find(other.node);
            if (there == position.end()) {
                through_switch =
                    through_switch || topology.nodes[other.node].kind != NodeKind::kGpu;
                continue;
            }
            direct = true;
            if (i < there->second)  // each edge once
                lanes.join(i, there->second, topology.edges[edge_of(other.hop)].lanes);
        }
    if (!direct) {
        std::vector<Ring> rings;
        if (through_switch || ranks.size() == 1)
            rings.push_back(ranks);
        return rings;
    }
    auto rings = rings_on(lanes);
    if (rings.empty() && topology.relays)
        rings = relayed_rings(lanes, Relays(topology), ranks);
    for (auto& ring : rings)
        for (auto& member : ring)
            member = ranks[member];
    return rings;
}

}  // namespace switchfold
