// SPDX-License-Identifier: Apache-2.0
#include "interconnect/topology_analysis.h"

#include "interconnect/adjacency.h"
#include "interconnect/max_flow.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace switchfold {

namespace {

bool is_pcie(const Topology& topology, const TopologyEdge& edge) {
    return is_pcie(topology.nodes[edge.a].kind) || is_pcie(topology.nodes[edge.b].kind);
}

/// Whether the GPUs are connected without PCIe.
bool joined_without_pcie(const Topology& topology) {
    const Adjacency neighbours =
        adjacency_of(topology, [&](const TopologyEdge& edge) { return !is_pcie(topology, edge); });
    std::vector<bool> seen(topology.nodes.size(), false);
    std::vector<std::uint32_t> queue{0};
    seen[0] = true;
    std::uint32_t gpus = 0;
    for (std::size_t next = 0; next < queue.size(); ++next) {
        gpus += topology.nodes[queue[next]].kind == NodeKind::kGpu ? 1 : 0;
        for (const auto& [node, hop] : neighbours[queue[next]])
            if (!seen[node]) {
                seen[node] = true;
                queue.push_back(node);
            }
    }
    return gpus == topology.gpus();
}

MaxFlow flow_network(const Topology& topology) {
    MaxFlow flow(static_cast<std::uint32_t>(topology.nodes.size()));
    const bool skip = topology.machines() == 1 && joined_without_pcie(topology);
    for (const TopologyEdge& edge : topology.edges)
        if (!skip || !is_pcie(topology, edge))
            flow.add_edge(edge.a, edge.b, usable_bandwidth(topology, edge).count());
    return flow;
}

Bandwidth cut(MaxFlow& flow, const std::vector<bool>& side) {
    std::vector<std::uint32_t> sources;
    std::vector<std::uint32_t> sinks;
    for (std::uint32_t gpu = 0; gpu < side.size(); ++gpu)
        (side[gpu] ? sources : sinks).push_back(gpu);
    return Bandwidth(flow.run(sources, sinks));
}

Bandwidth least_of_all_halvings(MaxFlow& flow, std::uint32_t gpus) {
    Bandwidth least(UINT64_MAX);
    std::vector<bool> side(gpus);
    // GPU 0 is on one side without loss of generality.
    for (std::uint32_t set = 1; set < 1U << gpus; set += 2) {
        const auto members = static_cast<std::uint32_t>(std::popcount(set));
        if (members != gpus / 2 && members != gpus - gpus / 2)
            continue;
        for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
            side[gpu] = (set >> gpu & 1U) != 0;
        least = std::min(least, cut(flow, side));
    }
    return least;
}

Bandwidth least_of_some_halvings(MaxFlow& flow, std::uint32_t gpus) {
    Bandwidth least(UINT64_MAX);
    std::vector<bool> side(gpus);
    // Alternating blocks, from half of the ranks down to one block per few machines.
    for (std::uint32_t block = (gpus + 1) / 2; block >= 1; block /= 2) {
        std::uint32_t members = 0;
        for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
            side[gpu] = gpu / block % 2 == 0;
            members += side[gpu] ? 1 : 0;
        }
        if (members == gpus / 2 || members == gpus - gpus / 2)
            least = std::min(least, cut(flow, side));
    }
    return least;
}

}  // namespace

Bandwidth usable_bandwidth(const Topology& topology, const TopologyEdge& edge) {
    return topology.links[edge.link_class].usable_bandwidth(edge.lanes);
}

Time unloaded_latency(const Topology& topology, const Path& path, std::uint32_t from) {
    Time sum;
    std::uint32_t node = from;
    for (const std::uint32_t hop : path.hops) {
        const TopologyEdge& edge = topology.edges[edge_of(hop)];
        if (node != from)
            sum += topology.switches[topology.nodes[node].switch_class].latency;
        sum += topology.links[edge.link_class].latency;
        node = topology.end_of(hop);
    }
    return sum;
}

Bandwidth cut_bandwidth(const Topology& topology, const std::vector<bool>& side) {
    MaxFlow flow = flow_network(topology);
    return cut(flow, side);
}

Bisection bisection(const Topology& topology) {
    constexpr std::uint32_t kTryAll = 16;
    const std::uint32_t gpus = topology.gpus();
    if (gpus < 2)
        return {Bandwidth(0), true};
    MaxFlow flow = flow_network(topology);
    if (gpus <= kTryAll)
        return {least_of_all_halvings(flow, gpus), true};
    return {least_of_some_halvings(flow, gpus), false};
}

Diameter diameter(const Topology& topology) {
    constexpr std::uint32_t kTryAll = 128;
    constexpr std::uint32_t kSources = 8;
    constexpr std::uint32_t kTargets = 2048;
    const std::uint32_t gpus = topology.gpus();
    PathFinder finder(topology);
    Diameter found;
    found.all = gpus <= kTryAll;
    const std::uint32_t step = found.all ? 1 : gpus / kSources;
    // An odd stride meets each place of a machine.
    const std::uint32_t stride = (gpus / kTargets) | 1U;
    found.targets = (gpus + stride - 1) / stride;
    for (std::uint32_t from = 0; from < gpus; from += step)
        for (std::uint32_t to = 0; to < gpus; to += stride)
            for (const Path& path : finder.shortest(from, to, 1)) {
                found.hops = std::max(found.hops, path.hops.size());
                found.latency = std::max(found.latency, unloaded_latency(topology, path, from));
            }
    return found;
}

Bandwidth ring_bound(
    const Topology& topology, std::span<const std::vector<std::uint32_t>> rings,
    std::uint32_t unit) {
    PathFinder finder(topology);
    // Wire bytes in each direction of each edge, per payload byte that each ring passes on.
    std::vector<double> load(topology.edges.size() * 2, 0);
    for (const auto& ring : rings)
        for (std::size_t i = 0; i < ring.size(); ++i) {
            const auto paths = finder.shortest(ring[i], ring[(i + 1) % ring.size()]);
            if (paths.empty())
                return Bandwidth(0);
            double weight = 0;
            for (const Path& path : paths)
                weight += path.weight;
            for (const Path& path : paths)
                for (const std::uint32_t hop : path.hops) {
                    const PacketFormat& format =
                        topology.links[topology.edges[edge_of(hop)].link_class].format;
                    const double share = path.weight / weight / unit;
                    load[hop] += share * format.wire_bytes(PacketKind::kWrite, unit);
                    load[reversed(hop)] +=
                        share * format.acknowledge_bytes(PacketKind::kWrite, unit);
                }
        }
    double worst = 0;  // seconds per byte of each ring
    for (std::uint32_t hop = 0; hop < load.size(); ++hop)
        worst = std::max(
            worst,
            load[hop] / static_cast<double>(
                            usable_bandwidth(topology, topology.edges[edge_of(hop)]).count()));
    if (worst <= 0)
        return Bandwidth(0);
    return Bandwidth(
        static_cast<std::uint64_t>(std::llround(static_cast<double>(rings.size()) / worst)));
}

double pulled_payload(
    const Topology& topology, const TopologyEdge& edge, std::uint32_t unit, std::size_t members) {
    const PacketFormat& format = topology.links[edge.link_class].format;
    const double all = format.wire_bytes(PacketKind::kMulticastWrite, unit) +
                       format.wire_bytes(PacketKind::kReduceFetch, unit);
    const double own = format.wire_bytes(PacketKind::kReduceResult, unit) +
                       format.acknowledge_bytes(PacketKind::kMulticastWrite, unit);
    return static_cast<double>(usable_bandwidth(topology, edge).count()) * unit /
           (all + own / static_cast<double>(members));
}

Bandwidth in_switch_bound(const Topology& topology, std::uint32_t unit) {
    const std::uint32_t gpus = topology.gpus();
    std::vector<std::uint32_t> joined(topology.nodes.size(), 0);
    for (const TopologyEdge& edge : topology.edges)
        for (const auto& [gpu, other] : {std::pair{edge.a, edge.b}, std::pair{edge.b, edge.a}})
            joined[other] += topology.nodes[gpu].kind == NodeKind::kGpu ? 1 : 0;
    double total = 0;
    for (const TopologyEdge& edge : topology.edges) {
        const std::uint32_t other = edge.a == 0 ? edge.b : edge.a;
        if ((edge.a != 0 && edge.b != 0) || topology.nodes[other].kind != NodeKind::kSwitch ||
            joined[other] != gpus)
            continue;
        const SwitchParams& params = topology.switches[topology.nodes[other].switch_class];
        if (!params.reduction || !params.multicast || gpus > params.reduction->max_members)
            continue;
        total += pulled_payload(topology, edge, unit, gpus);
    }
    const double bus = total * 2 * (gpus - 1) / gpus;
    return Bandwidth(static_cast<std::uint64_t>(bus));
}

}  // namespace switchfold
