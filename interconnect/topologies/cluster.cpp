// SPDX-License-Identifier: Apache-2.0
#include "interconnect/topologies/cluster.h"

#include "interconnect/congestion/check.h"
#include "interconnect/topologies/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace switchfold {

namespace {

bool has_pcie(const Topology& topology) {
    return std::any_of(topology.nodes.begin(), topology.nodes.end(), [](const TopologyNode& node) {
        return node.kind == NodeKind::kPcie || node.kind == NodeKind::kHost;
    });
}

/// The node at the other end of the GPU's PCIe link.
std::uint32_t pcie_of(const Topology& topology, std::uint32_t gpu) {
    for (const TopologyEdge& edge : topology.edges)
        for (const auto& [near, far] : {std::pair{edge.a, edge.b}, std::pair{edge.b, edge.a}})
            if (near == gpu && (topology.nodes[far].kind == NodeKind::kPcie ||
                                topology.nodes[far].kind == NodeKind::kHost))
                return far;
    return UINT32_MAX;
}

/// Replicates a machine: all GPUs first, then the other nodes of each copy.
Topology repeat(const Topology& machine, std::uint32_t times) {
    Topology all;
    all.links = machine.links;
    all.switches = machine.switches;
    all.through_memory = machine.through_memory;
    const std::uint32_t gpus = machine.gpus();
    const auto others = static_cast<std::uint32_t>(machine.nodes.size()) - gpus;
    all.nodes.reserve(machine.nodes.size() * times);
    all.edges.reserve(machine.edges.size() * times);
    add_gpus(all, gpus * times);
    for (std::uint32_t m = 0; m < times; ++m) {
        const auto place = [&](std::uint32_t node) {
            return node < gpus ? m * gpus + node : times * gpus + m * others + node - gpus;
        };
        for (std::uint32_t node = 0; node < machine.nodes.size(); ++node) {
            const TopologyNode& one = machine.nodes[node];
            if (node < gpus)
                all.nodes[place(node)].machine = m;
            else
                add_node(all, one.kind, fmt::format("node{}_{}", m, one.name), one.switch_class, m);
        }
        for (const TopologyEdge& edge : machine.edges)
            join(all, place(edge.a), place(edge.b), edge.lanes, edge.link_class);
    }
    return all;
}

std::vector<NetworkPort> network_ports(const Topology& topology) {
    std::vector<NetworkPort> ports;
    for (std::uint32_t i = 0; i < topology.nodes.size(); ++i) {
        const TopologyNode& node = topology.nodes[i];
        if (node.kind != NodeKind::kNic)
            continue;
        const bool same = !ports.empty() && ports.back().machine == node.machine;
        ports.push_back({i, node.machine, same ? ports.back().rail + 1 : 0});
    }
    return ports;
}

}  // namespace

void ClusterTopology::check_nics(const Topology& bare, ParamChecker& checker) const {
    if (has_pcie(bare) == nics.gpu_link.has_value())
        checker.error(
            "/nics/gpu_link", nics.gpu_link
                                  ? "is given, but the machine has PCIe of its own; expected none"
                                  : "is missing; expected the GPUs' PCIe link");
    if (!checker.found().empty())
        return;
    const Topology one = build_machine();
    const auto nearest = nearest_nics(one);
    for (std::uint32_t gpu = 0; gpu < nearest.size(); ++gpu)
        if (nearest[gpu].empty()) {
            checker.error(
                "/nics/count",
                fmt::format(
                    "is {}, which leaves GPU {} of a node without a NIC on its PCIe switch; "
                    "expected at least one for each switch{}",
                    nics.count, gpu,
                    nics.gpu_link ? fmt::format(", as with pcie_switches {}", nics.count) : ""));
            return;
        }
}

void ClusterTopology::check(ParamChecker& checker) const {
    const Topology bare = std::visit([](const auto& p) { return p.build(); }, *node);
    check_nics(bare, checker);
    constexpr std::uint64_t kMostGpus = 65'536;
    if (std::uint64_t{nodes} * bare.gpus() > kMostGpus)
        checker.error(
            "/nodes", fmt::format(
                          "is {}, of {} GPUs each; expected at most {} GPUs in all", nodes,
                          bare.gpus(), kMostGpus));
    if (!checker.found().empty())
        return;
    const std::vector<NetworkPort> ports = network_ports(repeat(build_machine(), nodes));
    ParamChecker of_network;
    std::visit([&](const auto& n) { n.check_ends(ports, of_network); }, network);
    for (const auto& [pointer, message] : of_network.found())
        checker.error("/network" + pointer, message);
    if (congestion && checker.found().empty())
        check_congestion(build(), checker);
}

Topology ClusterTopology::build_machine() const {
    Topology one = std::visit([](const auto& p) { return p.build(); }, *node);
    const std::uint32_t gpus = one.gpus();
    if (nics.gpu_link) {
        const std::uint32_t switches = nics.pcie_switches > 0 ? nics.pcie_switches : gpus;
        const std::uint32_t wire = add_link_class(one, *nics.gpu_link);
        const std::uint32_t kind = add_switch_class(one, nics.pcie_switch);
        const auto first = static_cast<std::uint32_t>(one.nodes.size());
        for (std::uint32_t i = 0; i < switches; ++i)
            add_node(one, NodeKind::kPcie, fmt::format("pcie{}", i), kind, 0);
        for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
            join(one, gpu, first + gpu * switches / gpus, 1, wire);
    }
    const std::uint32_t wire = add_link_class(one, nics.link);
    const std::uint32_t kind = add_switch_class(one, nics.nic);
    const std::uint32_t count = nics.count > 0 ? nics.count : gpus;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t slot = pcie_of(one, i * gpus / count);
        const std::uint32_t nic = add_node(one, NodeKind::kNic, fmt::format("nic{}", i), kind, 0);
        join(one, slot, nic, 1, wire);
    }
    return one;
}

Topology ClusterTopology::build() const {
    Topology topology = repeat(build_machine(), nodes);
    const std::vector<NetworkPort> ports = network_ports(topology);
    std::visit([&](const auto& n) { n.build(topology, ports); }, network);
    topology.congestion = congestion;
    return topology;
}

}  // namespace switchfold
