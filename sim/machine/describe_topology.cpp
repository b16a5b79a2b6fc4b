// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/describe_topology.h"

#include "core/first_ranks.h"
#include "interconnect/topologies/graph.h"
#include "interconnect/topology_analysis.h"
#include "models/collectives/choice/group_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

std::string_view word_of(NodeKind kind) {
    switch (kind) {
    case NodeKind::kGpu:
        return "GPU";
    case NodeKind::kSwitch:
        return "switch";
    case NodeKind::kNic:
        return "NIC";
    case NodeKind::kPcie:
        return "PCIe switch";
    case NodeKind::kHost:
        return "host bridge";
    case NodeKind::kMemory:
        return "host memory";
    }
    return "?";
}

namespace {

double gigabytes(Bandwidth bandwidth) {
    return static_cast<double>(bandwidth.count()) * 1e-9;
}

std::string plural(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Distinguishes switches inside a machine from those between machines.
std::string node_kind(const TopologyNode& node, bool several_machines) {
    if (node.kind == NodeKind::kSwitch && several_machines)
        return node.machine == kNoMachine ? "network switch" : "switch of a node";
    return std::string(word_of(node.kind));
}

std::string describe_nodes(const Topology& topology) {
    const bool several = topology.machines() > 1;
    std::vector<std::pair<std::string, std::size_t>> counts;
    for (const TopologyNode& node : topology.nodes) {
        const std::string kind = node_kind(node, several);
        auto at = counts.begin();
        while (at != counts.end() && at->first != kind)
            ++at;
        if (at == counts.end())
            at = counts.insert(at, {kind, 0});
        ++at->second;
    }
    std::string out = fmt::format("  {}:", plural(topology.machines(), "node"));
    for (const auto& [kind, count] : counts)
        out += fmt::format("{} {} x {}", &kind == &counts.front().first ? "" : ",", count, kind);
    return out + "\n";
}

std::string describe_links(const Topology& topology) {
    struct Kind {
        std::string ends;
        std::uint32_t link_class;
        std::uint32_t lanes;
        std::size_t count;
        Bandwidth bandwidth;
    };
    const bool several = topology.machines() > 1;
    std::vector<Kind> kinds;
    for (const TopologyEdge& edge : topology.edges) {
        const std::string ends = fmt::format(
            "{} to {}", node_kind(topology.nodes[edge.a], several),
            node_kind(topology.nodes[edge.b], several));
        auto at = kinds.begin();
        while (at != kinds.end() &&
               (at->ends != ends || at->link_class != edge.link_class || at->lanes != edge.lanes))
            ++at;
        if (at == kinds.end())
            at = kinds.insert(
                at, {ends, edge.link_class, edge.lanes, 0, usable_bandwidth(topology, edge)});
        ++at->count;
    }
    std::string out;
    for (const Kind& kind : kinds) {
        const LinkParams& link = topology.links[kind.link_class];
        out += fmt::format(
            "  {:>6} x {}: {} of {}, usable {:.1f} GB/s each way, {}\n", kind.count, kind.ends,
            plural(kind.lanes, "lane"), to_string(link.lane_bandwidth), gigabytes(kind.bandwidth),
            to_string(link.latency));
    }
    return out;
}

/// What the network does about congestion; empty if nothing.
std::string describe_congestion(const Topology& topology) {
    if (!topology.congestion)
        return {};
    const CongestionParams& does = *topology.congestion;
    std::vector<std::string> parts{fmt::format("{} routes", enum_name(does.routing))};
    if (does.pause)
        parts.push_back(fmt::format("pauses from {} a lane", to_string(does.pause->from)));
    if (does.dcqcn)
        parts.push_back(fmt::format(
            "DCQCN with marks from {} to {}", to_string(does.dcqcn->mark_from),
            to_string(does.dcqcn->mark_all_from)));
    if (does.loss)
        parts.push_back(fmt::format(
            "{:g} of packets lost, {}", does.loss->share, enum_name(does.loss->recovery)));
    return fmt::format("  congestion: {}\n", fmt::join(parts, "; "));
}

std::string describe_reach(const Topology& topology) {
    const Bisection halves = bisection(topology);
    const Diameter reach = diameter(topology);
    return fmt::format(
               "  bisection: {}{:.1f} GB/s each way ({})\n", halves.exact ? "" : "at most ",
               gigabytes(halves.bandwidth),
               halves.exact ? "the least cut over all halvings of the GPUs"
                            : "the least cut over halvings by blocks of ranks") +
           fmt::format(
               "  diameter: {}, {:.0f} ns unloaded ({})\n", plural(reach.hops, "hop"),
               to_microseconds(reach.latency) * 1e3,
               reach.all ? "over all pairs of GPUs"
               : reach.targets == topology.gpus()
                   ? "from eight GPUs to all"
                   : fmt::format("from eight GPUs to {} of all", reach.targets));
}

std::string
describe_rings(const Topology& topology, const std::vector<std::vector<std::uint32_t>>& rings) {
    constexpr std::size_t kWholeRing = 16;
    std::string out = fmt::format(
        "  rings: {}\n", topology.machines() > 1 ? fmt::format("{} through all nodes", rings.size())
                         : rings.size() == 1
                             ? "1 order of ranks"
                             : fmt::format("{}, no lane used twice one way", rings.size()));
    if (rings.size() > 1 && rings.front().size() <= kWholeRing)
        for (const auto& ring : rings)
            out += fmt::format("    {}\n", fmt::join(ring, " "));
    return out;
}

}  // namespace

std::string describe_topology(const Topology& topology, Bytes transfer_unit) {
    std::string out = describe_nodes(topology) + describe_links(topology);
    if (topology.gpus() < 2)
        return out;
    out += describe_congestion(topology);
    out += describe_reach(topology);
    std::vector<std::uint32_t> world = first_ranks(topology.gpus());
    const auto rings = ring_orders(topology, world, lay_out(topology, world));
    out += describe_rings(topology, rings);
    const auto unit = static_cast<std::uint32_t>(transfer_unit.count());
    out += fmt::format(
        "  ring all-reduce: bus bandwidth at most {:.1f} GB/s by links and headers\n",
        gigabytes(ring_bound(topology, rings, unit)));
    const Bandwidth reduced = in_switch_bound(topology, unit);
    if (reduced.count() > 0)
        out += fmt::format(
            "  in-switch all-reduce: bus bandwidth at most {:.1f} GB/s by links and headers\n",
            gigabytes(reduced));
    return out;
}

std::string draw_topology(const Topology& topology, const std::string& name) {
    constexpr std::array<std::string_view, 6> kLooks{
        "shape=box, style=filled, fillcolor=palegreen",
        "shape=ellipse, style=filled, fillcolor=lightskyblue",
        "shape=hexagon, style=filled, fillcolor=khaki",
        "shape=ellipse, style=filled, fillcolor=lightgrey",
        "shape=house, style=filled, fillcolor=lightgrey",
        "shape=cylinder"};
    std::string out = fmt::format("graph \"{}\" {{\n  overlap=false;\n", name);
    std::map<std::uint32_t, std::string> machines;
    for (const TopologyNode& node : topology.nodes)
        machines[node.machine] += fmt::format(
            "    \"{}\" [{}];\n", node.name, kLooks[static_cast<std::size_t>(node.kind)]);
    for (const auto& [machine, nodes] : machines) {
        if (machine == kNoMachine)
            out += nodes;
        else
            out += fmt::format(
                "  subgraph cluster_{} {{\n    label=\"node {}\";\n{}  }}\n", machine, machine,
                nodes);
    }
    for (const TopologyEdge& edge : topology.edges)
        out += fmt::format(
            "  \"{}\" -- \"{}\" [label=\"{}x{}\"];\n", topology.nodes[edge.a].name,
            topology.nodes[edge.b].name, edge.lanes,
            to_string(topology.links[edge.link_class].lane_bandwidth));
    return out + "}\n";
}

}  // namespace switchfold
