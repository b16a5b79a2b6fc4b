// SPDX-License-Identifier: Apache-2.0
#include "interconnect/congestion/check.h"

#include "interconnect/congestion/path_choices.h"
#include "interconnect/hop.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace switchfold {

namespace {

std::set<std::uint32_t> network_link_classes(const Topology& topology) {
    std::set<std::uint32_t> classes;
    for (std::uint32_t edge = 0; edge < topology.edges.size(); ++edge)
        if (in_network(topology, hop_from_a(edge)))
            classes.insert(topology.edges[edge].link_class);
    return classes;
}

/// What comes to a lane's buffer until a pause takes effect: the frame's way, and as long again for
/// what is on the wire, at the lane's rate; and a packet on both ends.
Bytes headroom(const LinkParams& link) {
    const double rate = static_cast<double>(link.usable_bandwidth(1).count());
    const Bytes packet = link.format.max_payload + link.format.flit * link.format.header_flits;
    return Bytes(static_cast<std::uint64_t>(2 * to_seconds(link.latency) * rate)) + packet * 2;
}

void check_pause(const Topology& topology, const PauseParams& pause, ParamChecker& checker) {
    if (pause.until >= pause.from)
        checker.error(
            "/congestion/pause/until",
            fmt::format(
                "is {} B; expected less than from, {} B", pause.until.count(), pause.from.count()));
    for (const std::uint32_t index : network_link_classes(topology)) {
        const LinkParams& link = topology.links[index];
        const Bytes needed = headroom(link);
        if (pause.from + needed <= link.buffer_per_lane)
            continue;
        checker.error(
            "/congestion/pause/from",
            fmt::format(
                "is {} B, and a link of {} GB/s a lane and {:.4g} us brings {} B more until the "
                "pause takes effect; expected both to fit in its buffer_per_lane of {} B",
                pause.from.count(), static_cast<double>(link.lane_bandwidth.count()) * 1e-9,
                to_microseconds(link.latency), needed.count(), link.buffer_per_lane.count()));
        return;
    }
}

}  // namespace

void check_congestion(const Topology& topology, ParamChecker& checker) {
    const CongestionParams& params = *topology.congestion;
    const std::ptrdiff_t switches = std::ranges::count_if(topology.nodes, is_network_switch);
    if (switches == 0) {
        checker.error(
            "/congestion", "is given, but no switch joins machines; expected several machines and "
                           "a network between them");
        return;
    }
    if (params.pause)
        check_pause(topology, *params.pause, checker);
    if (params.dcqcn && params.dcqcn->mark_all_from <= params.dcqcn->mark_from)
        checker.error(
            "/congestion/dcqcn/mark_all_from",
            fmt::format(
                "is {} B; expected more than mark_from, {} B", params.dcqcn->mark_all_from.count(),
                params.dcqcn->mark_from.count()));
    if (!params.loss || params.loss->recovery != Recovery::kGoBackN || switches == 1)
        return;
    if (params.routing == RoutePolicy::kAdaptive || topology.paths_per_pair > 1)
        checker.error(
            "/congestion/loss/recovery",
            "is go_back_n, which takes a packet that another path brings earlier for a loss; "
            "expected static routing and paths_per_pair 1, or recovery selective");
}

}  // namespace switchfold
