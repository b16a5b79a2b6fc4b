// SPDX-License-Identifier: Apache-2.0
#include "interconnect/topologies/build.h"

#include "interconnect/path_finder.h"

#include <fmt/format.h>

#include <utility>

namespace switchfold {

std::uint32_t add_node(
    Topology& topology, NodeKind kind, std::string name, std::uint32_t switch_class,
    std::uint32_t machine) {
    topology.nodes.push_back({kind, std::move(name), switch_class, machine});
    return static_cast<std::uint32_t>(topology.nodes.size() - 1);
}

std::uint32_t add_link_class(Topology& topology, const LinkParams& link) {
    topology.links.push_back(link);
    return static_cast<std::uint32_t>(topology.links.size() - 1);
}

std::uint32_t add_switch_class(Topology& topology, const SwitchParams& node) {
    topology.switches.push_back(node);
    return static_cast<std::uint32_t>(topology.switches.size() - 1);
}

void add_gpus(Topology& topology, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i)
        add_node(topology, NodeKind::kGpu, fmt::format("gpu{}", i), 0, 0);
}

void join(
    Topology& topology, std::uint32_t a, std::uint32_t b, std::uint32_t lanes,
    std::uint32_t link_class) {
    topology.edges.push_back({a, b, lanes, link_class});
}

void check_ports(
    const Topology& topology, ParamChecker& checker, const std::vector<std::string_view>& classes) {
    std::vector<std::uint64_t> lanes(topology.nodes.size(), 0);
    for (const TopologyEdge& edge : topology.edges) {
        lanes[edge.a] += edge.lanes;
        lanes[edge.b] += edge.lanes;
    }
    std::vector<bool> told(topology.switches.size(), false);
    for (std::size_t i = topology.gpus(); i < topology.nodes.size(); ++i) {
        const TopologyNode& node = topology.nodes[i];
        const auto ports = topology.switches[node.switch_class].ports;
        if (!ports || lanes[i] <= *ports || told[node.switch_class])
            continue;
        told[node.switch_class] = true;  // one message per class suffices
        checker.error(
            fmt::format("{}/ports", classes[node.switch_class]),
            fmt::format(
                "is {}, but {} lanes are joined to {}; expected as many ports", *ports, lanes[i],
                node.name));
    }
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> separate_gpus(const Topology& topology) {
    constexpr std::uint32_t kAllPairs = 512;
    PathFinder finder(topology);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
    const std::uint32_t gpus = topology.gpus();
    for (std::uint32_t b = 1; b < gpus; ++b) {
        const bool few = gpus <= kAllPairs;
        for (std::uint32_t a = 0; a < b; a = few || a + 1 == b ? a + 1 : b - 1)
            if (finder.shortest(a, b, 1).empty()) {
                found.emplace_back(b, a);
                break;
            }
    }
    return found;
}

}  // namespace switchfold
