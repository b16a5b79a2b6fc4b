// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/peer_copies/wiring.h"

#include "interconnect/topology_analysis.h"

#include <algorithm>

namespace switchfold {

std::vector<LinkUse> links_between(PathFinder& finder, std::uint32_t from, std::uint32_t to) {
    std::vector<LinkUse> way;
    const std::vector<Path> paths = finder.shortest(from, to);
    double weights = 0;
    for (const Path& path : paths)
        weights += path.weight;
    for (const Path& path : paths)
        for (const std::uint32_t hop : path.hops) {
            auto use = std::find_if(
                way.begin(), way.end(), [&](const LinkUse& u) { return u.link == hop; });
            if (use == way.end())
                use = way.insert(way.end(), {hop, 0});
            use->share += path.weight / weights;
        }
    return way;
}

Wiring wiring_of(const Topology& topology, const std::vector<std::uint32_t>& ranks) {
    Wiring wiring;
    wiring.members = static_cast<std::uint32_t>(ranks.size());
    for (const TopologyEdge& edge : topology.edges)
        wiring.rates.insert(
            wiring.rates.end(), 2, static_cast<double>(usable_bandwidth(topology, edge).count()));
    PathFinder finder(topology);
    for (const std::uint32_t from : ranks)
        for (const std::uint32_t to : ranks)
            wiring.ways.push_back(links_between(finder, from, to));
    return wiring;
}

}  // namespace switchfold
