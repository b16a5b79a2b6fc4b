// SPDX-License-Identifier: Apache-2.0
#include "interconnect/topologies/graph.h"

#include "interconnect/congestion/check.h"
#include "interconnect/topologies/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

namespace switchfold {

namespace {

/// Restricted, because names become part of component names.
bool is_name(const std::string& text) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

}  // namespace

void GraphTopology::check_nodes(ParamChecker& checker) const {
    std::map<std::string, std::size_t> seen;
    std::uint32_t machine = 0;
    bool any_gpu = false;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const GraphNode& node = nodes[i];
        const std::string at = fmt::format("/nodes/{}", i);
        if (!is_name(node.name))
            checker.error(
                at + "/name",
                fmt::format("is \"{}\"; expected letters, digits and underscores", node.name));
        const auto [first, fresh] = seen.try_emplace(node.name, i);
        if (!fresh)
            checker.error(
                at + "/name", fmt::format(
                                  "\"{}\" is the name of /nodes/{} too; expected each name once",
                                  node.name, first->second));
        if (node.kind == NodeKind::kGpu) {
            any_gpu = true;
            const std::uint32_t here = node.machine.value_or(0);
            if (here != machine && here != machine + 1)
                checker.error(
                    at + "/machine",
                    fmt::format(
                        "is {}; expected {} or {}: the GPUs of a machine stand together", here,
                        machine, machine + 1));
            machine = here;
            if (node.type)
                checker.error(at + "/type", "is given; expected none for a GPU");
        } else if (!node.type || !switches.contains(*node.type)) {
            checker.error(
                at + "/type",
                node.type ? fmt::format("names \"{}\"; expected one of /switches", *node.type)
                          : "is missing; expected one of /switches");
        }
    }
    if (!any_gpu)
        checker.error("/nodes", "has no GPU; expected at least one");
}

void GraphTopology::check_edges(ParamChecker& checker) const {
    std::set<std::string> names;
    for (const GraphNode& node : nodes)
        names.insert(node.name);
    std::map<std::pair<std::string, std::string>, std::size_t> seen;
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const GraphLink& edge = edges[i];
        const std::string at = fmt::format("/edges/{}", i);
        for (const auto& [key, name] : {std::pair{"/a", edge.a}, std::pair{"/b", edge.b}})
            if (!names.contains(name))
                checker.error(
                    at + key, fmt::format("names \"{}\"; expected the name of a node", name));
        if (!links.contains(edge.type))
            checker.error(
                at + "/type", fmt::format("names \"{}\"; expected one of /links", edge.type));
        if (edge.a == edge.b)
            checker.error(at, "joins a node to itself; expected two different nodes");
        const auto [first, fresh] = seen.try_emplace(std::minmax(edge.a, edge.b), i);
        if (fresh)
            continue;
        const GraphLink& other = edges[first->second];
        checker.error(
            at, other.a == edge.b && (other.lanes != edge.lanes || other.type != edge.type)
                    ? fmt::format(
                          "differs from /edges/{}, the way back; expected links alike both ways, "
                          "written once",
                          first->second)
                    : fmt::format(
                          "joins what /edges/{} joins already; expected all lanes at once",
                          first->second));
    }
}

void GraphTopology::check(ParamChecker& checker) const {
    check_nodes(checker);
    check_edges(checker);
    if (!checker.found().empty())
        return;
    const Topology topology = build();
    std::vector<std::string> classes;
    for (const auto& [name, params] : switches)
        classes.push_back("/switches/" + name);
    check_ports(topology, checker, {classes.begin(), classes.end()});
    std::map<std::string, std::size_t> place;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        place[nodes[i].name] = i;
    for (const auto& [gpu, other] : separate_gpus(topology))
        checker.error(
            fmt::format("/nodes/{}", place[topology.nodes[gpu].name]),
            fmt::format(
                "GPU {} has no path to {} that leads through no other GPU; expected one between "
                "any two",
                topology.nodes[gpu].name, topology.nodes[other].name));
    if (congestion)
        check_congestion(topology, checker);
}

Topology GraphTopology::build() const {
    Topology topology;
    std::map<std::string, std::uint32_t> link_class;
    std::map<std::string, std::uint32_t> switch_class;
    for (const auto& [name, params] : links)
        link_class[name] = add_link_class(topology, params);
    for (const auto& [name, params] : switches)
        switch_class[name] = add_switch_class(topology, params);
    const bool several = std::any_of(nodes.begin(), nodes.end(), [](const GraphNode& node) {
        return node.machine.value_or(0) > 0;
    });
    std::map<std::string, std::uint32_t> index;
    for (const bool gpus : {true, false})
        for (const GraphNode& node : nodes)
            if ((node.kind == NodeKind::kGpu) == gpus)
                index[node.name] = add_node(
                    topology, node.kind, node.name, gpus ? 0 : switch_class[*node.type],
                    node.machine.value_or(
                        several && node.kind == NodeKind::kSwitch ? kNoMachine : 0));
    topology.through_memory = std::any_of(nodes.begin(), nodes.end(), [](const GraphNode& node) {
        return node.kind == NodeKind::kMemory;
    });
    for (const GraphLink& edge : edges)
        join(topology, index[edge.a], index[edge.b], edge.lanes, link_class[edge.type]);
    topology.congestion = congestion;
    return topology;
}

namespace {

void expect_a_graph(const Topology& topology) {
    const Topology plain;
    if (topology.paths_per_pair != plain.paths_per_pair ||
        topology.spread_paths != plain.spread_paths)
        throw std::invalid_argument("a graph has no limits on paths");
    if (topology.relays)
        throw std::invalid_argument("a graph's GPUs do not relay");
    std::set<std::pair<std::uint32_t, std::uint32_t>> joined;
    for (const TopologyEdge& edge : topology.edges)
        if (edge.down || !joined.insert(std::minmax(edge.a, edge.b)).second)
            throw std::invalid_argument("a graph has one link between two nodes, in service");
    const bool memory = std::ranges::any_of(
        topology.nodes, [](const TopologyNode& node) { return node.kind == NodeKind::kMemory; });
    if (topology.machines() <= 1 &&
        std::ranges::any_of(
            topology.nodes, [](const TopologyNode& node) { return node.machine == kNoMachine; }))
        throw std::invalid_argument("a graph of one machine has no network");
    if (topology.through_memory != memory)
        throw std::invalid_argument("a graph's transfers pass through host memory if it has any");
}

}  // namespace

GraphTopology graph_of(const Topology& topology) {
    expect_a_graph(topology);
    const bool several = topology.machines() > 1;
    GraphTopology graph;
    graph.congestion = topology.congestion;
    for (std::size_t i = 0; i < topology.links.size(); ++i)
        graph.links[fmt::format("link{:04}", i)] = topology.links[i];
    for (std::size_t i = 0; i < topology.switches.size(); ++i)
        graph.switches[fmt::format("switch{:04}", i)] = topology.switches[i];
    for (const TopologyNode& node : topology.nodes) {
        GraphNode& one = graph.nodes.emplace_back();
        one.name = node.name;
        one.kind = node.kind;
        if (node.kind != NodeKind::kGpu)
            one.type = fmt::format("switch{:04}", node.switch_class);
        if (several && node.machine != kNoMachine)
            one.machine = node.machine;
    }
    for (const TopologyEdge& edge : topology.edges)
        graph.edges.push_back(
            {topology.nodes[edge.a].name, topology.nodes[edge.b].name, edge.lanes,
             fmt::format("link{:04}", edge.link_class)});
    return graph;
}

}  // namespace switchfold
