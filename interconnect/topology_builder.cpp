// SPDX-License-Identifier: Apache-2.0
#include "interconnect/topology_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace switchfold {

namespace {

void add_gpus(Topology& topology, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i)
        topology.nodes.push_back({NodeKind::kGpu, fmt::format("gpu{}", i), 0});
}

}  // namespace

void SwitchedTopology::check(ParamChecker& checker) const {
    if (lanes_to_switch.empty())
        checker.error("/lanes_to_switch", "is empty; expected the lanes to at least one switch");
    for (std::size_t i = 0; i < lanes_to_switch.size(); ++i)
        if (lanes_to_switch[i] == 0)
            checker.error(
                fmt::format("/lanes_to_switch/{}", i), "is 0; expected at least one lane");
}

Topology SwitchedTopology::build() const {
    Topology topology;
    add_gpus(topology, gpus);
    topology.links = {link};
    topology.switches = {node};
    for (std::uint32_t s = 0; s < lanes_to_switch.size(); ++s) {
        const auto index = static_cast<std::uint32_t>(topology.nodes.size());
        topology.nodes.push_back({NodeKind::kSwitch, fmt::format("switch{}", s), 0});
        for (std::uint32_t g = 0; g < gpus; ++g)
            topology.edges.push_back({g, index, lanes_to_switch[s], 0});
    }
    return topology;
}

void DirectTopology::check(ParamChecker& checker) const {
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const DirectEdge& edge = edges[i];
        const std::string at = fmt::format("/edges/{}", i);
        for (const auto& [end, number] : {std::pair{"/a", edge.a}, std::pair{"/b", edge.b}})
            if (number >= gpus)
                checker.error(
                    at + end, fmt::format("is {}; expected a GPU from 0 to {}", number, gpus - 1));
        if (edge.a == edge.b)
            checker.error(at, "joins a GPU to itself; expected two different GPUs");
        if (!seen.insert(std::minmax(edge.a, edge.b)).second)
            checker.error(
                at, "joins a pair that is joined already; expected all its lanes at once");
    }
}

Topology DirectTopology::build() const {
    Topology topology;
    add_gpus(topology, gpus);
    topology.links = {link, host_link};
    topology.switches = {host};
    for (const DirectEdge& edge : edges)
        topology.edges.push_back({edge.a, edge.b, edge.lanes, 0});
    const auto bridge = static_cast<std::uint32_t>(topology.nodes.size());
    topology.nodes.push_back({NodeKind::kHost, "host", 0});
    for (std::uint32_t g = 0; g < gpus; ++g)
        topology.edges.push_back({g, bridge, 1, 1});
    return topology;
}

Topology build_topology(const TopologyParams& params) {
    return std::visit([](const auto& p) { return p.build(); }, params);
}

}  // namespace switchfold
