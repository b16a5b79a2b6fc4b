// SPDX-License-Identifier: Apache-2.0
#include "interconnect/rings.h"

#include "interconnect/relay.h"
#include "interconnect/ring_search/lane_table.h"
#include "interconnect/ring_search/searches.h"

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
    std::vector<std::uint32_t> position(topology.nodes.size(), UINT32_MAX);
    for (std::uint32_t i = 0; i < ranks.size(); ++i)
        position[ranks[i]] = i;
    LaneTable lanes(ranks.size());
    bool direct = false;
    bool through_switch = false;
    for (const TopologyEdge& edge : topology.edges) {
        if (edge.down)
            continue;
        const std::uint32_t a = position[edge.a];
        const std::uint32_t b = position[edge.b];
        if (a != UINT32_MAX && b != UINT32_MAX) {
            lanes.join(a, b, edge.lanes);
            direct = true;
        } else if (
            topology.nodes[edge.a].kind != NodeKind::kGpu ||
            topology.nodes[edge.b].kind != NodeKind::kGpu) {
            through_switch = through_switch || a != UINT32_MAX || b != UINT32_MAX;
        }
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
