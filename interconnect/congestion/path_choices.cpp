// SPDX-License-Identifier: Apache-2.0
#include "interconnect/congestion/path_choices.h"

#include "interconnect/hop.h"

#include <algorithm>

namespace switchfold {

bool is_network_switch(const TopologyNode& node) {
    return node.kind == NodeKind::kSwitch && node.machine == kNoMachine;
}

bool ends_in_network(const Topology& topology, std::uint32_t hop) {
    return is_network_switch(topology.nodes[topology.end_of(hop)]);
}

bool in_network(const Topology& topology, std::uint32_t hop) {
    return ends_in_network(topology, hop) || ends_in_network(topology, reversed(hop));
}

std::uint16_t PathChoices::network_links(const Path& path) const {
    return static_cast<std::uint16_t>(std::ranges::count_if(
        path.hops, [&](std::uint32_t hop) { return in_network(topology_, hop); }));
}

void PathChoices::learn(
    std::uint32_t flow, const std::vector<std::pair<std::uint32_t, Path>>& routes) {
    for (const auto& [begin, path] : routes) {
        const std::uint16_t links = network_links(path);
        places_.resize(std::max<std::size_t>(places_.size(), begin + path.hops.size()));
        for (std::size_t h = 0; h < path.hops.size(); ++h)
            places_[begin + h] = {flow, begin, 0, 0, links};
    }
    for (const auto& [begin, path] : routes)
        for (std::size_t h = 1; h < path.hops.size(); ++h) {
            const std::uint32_t here = topology_.end_of(path.hops[h - 1]);
            if (!ends_in_network(topology_, path.hops[h - 1]))
                continue;
            Place& place = places_[begin + h];
            place.first = static_cast<std::uint32_t>(choices_.size());
            choices_.push_back(begin + static_cast<std::uint32_t>(h));
            std::vector<std::uint32_t> seen{path.hops[h]};
            for (const auto& [other_begin, other] : routes)
                if (h < other.hops.size() && other.hops.size() == path.hops.size() &&
                    topology_.end_of(other.hops[h - 1]) == here &&
                    std::ranges::find(seen, other.hops[h]) == seen.end()) {
                    seen.push_back(other.hops[h]);
                    choices_.push_back(other_begin + static_cast<std::uint32_t>(h));
                }
            place.count = static_cast<std::uint16_t>(seen.size());
            if (seen.size() == 1) {
                choices_.pop_back();
                place.count = 0;
            }
        }
}

}  // namespace switchfold
