// SPDX-License-Identifier: Apache-2.0
#include "interconnect/topologies/torus.h"

#include "interconnect/topologies/build.h"

#include <fmt/format.h>

namespace switchfold {

void TorusTopology::check(ParamChecker& checker) const {
    constexpr std::uint64_t kMost = 65'536;
    if (dimensions.size() != 2 && dimensions.size() != 3)
        checker.error(
            "/dimensions", fmt::format("has {} numbers; expected 2 or 3", dimensions.size()));
    std::uint64_t gpus = 1;
    for (const std::uint32_t d : dimensions)
        gpus *= d;
    if (gpus > kMost)
        checker.error("/dimensions", fmt::format("make {} GPUs; expected at most {}", gpus, kMost));
    if (checker.found().empty())
        check_ports(build(), checker, {"/router"});
}

Topology TorusTopology::build() const {
    Topology topology;
    topology.paths_per_pair = 1;
    topology.spread_paths = false;
    std::uint32_t gpus = 1;
    for (const std::uint32_t d : dimensions)
        gpus *= d;
    add_gpus(topology, gpus);
    topology.links = {gpu_link, link};
    topology.switches = {router};
    for (std::uint32_t g = 0; g < gpus; ++g)
        join(
            topology, g, add_node(topology, NodeKind::kSwitch, fmt::format("router{}", g), 0, 0), 1,
            0);
    // Edges are ordered by dimension, so that the first shortest path is dimension-ordered.
    std::uint32_t stride = gpus;
    for (const std::uint32_t d : dimensions) {
        stride /= d;
        for (std::uint32_t g = 0; g < gpus; ++g) {
            const std::uint32_t place = g / stride % d;
            if (d == 2 && place == 1)
                continue;
            const std::uint32_t next = place + 1 < d ? g + stride : g - place * stride;
            join(topology, gpus + g, gpus + next, d == 2 ? 2 * lanes : lanes, 1);
        }
    }
    return topology;
}

namespace {

std::vector<NetworkPort> ports_of(std::uint32_t gpus) {
    std::vector<NetworkPort> ports;
    for (std::uint32_t g = 0; g < gpus; ++g)
        ports.push_back({g, g, 0});
    return ports;
}

}  // namespace

void NetworkTopology::check(ParamChecker& checker) const {
    ParamChecker of_network;
    std::visit([&](const auto& n) { n.check_ends(ports_of(gpus), of_network); }, network);
    for (const auto& [pointer, message] : of_network.found())
        checker.error("/network" + pointer, message);
}

Topology NetworkTopology::build() const {
    Topology topology;
    add_gpus(topology, gpus);
    std::visit([&](const auto& n) { n.build(topology, ports_of(gpus)); }, network);
    for (TopologyNode& node : topology.nodes)
        node.machine = 0;  // one domain: its switches are those of the GPUs' own links
    return topology;
}

}  // namespace switchfold
