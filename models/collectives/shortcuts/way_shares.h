// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/hop.h"
#include "interconnect/path_finder.h"
#include "interconnect/topology.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Links that the kept ranks of a fold use less than all would must be this far from being the
/// limit.
inline constexpr double kRoomToSpare = 0.95;

/// Calls add(hop, share) for each hop of the ways with the share of a pair's bytes that goes over
/// it, `times` times.
template <class Add>
void for_each_share(const std::vector<Path>& ways, double times, const Add& add) {
    double all = 0;
    for (const Path& way : ways)
        all += way.weight;
    for (const Path& way : ways)
        for (const std::uint32_t hop : way.hops)
            add(hop, times * way.weight / all);
}

/// Bytes per second.
[[nodiscard]] inline double bandwidth_of(const Topology& topology, std::uint32_t hop) {
    const TopologyEdge& edge = topology.edges[edge_of(hop)];
    const LinkParams& link = topology.links[edge.link_class];
    return static_cast<double>(link.lane_bandwidth.count()) * edge.lanes;
}

}  // namespace switchfold
