// SPDX-License-Identifier: Apache-2.0
#include "interconnect/topologies/direct.h"

#include "interconnect/topologies/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace switchfold {

void check_edges(
    const std::vector<DirectEdge>& edges, std::uint32_t gpus, std::string_view pointer,
    ParamChecker& checker) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const DirectEdge& edge = edges[i];
        const std::string at = fmt::format("{}/{}", pointer, i);
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

void DirectTopology::check(ParamChecker& checker) const {
    check_edges(edges, gpus, "/edges", checker);
    if (checker.found().empty())
        check_ports(build(), checker, {"/host"});
}

Topology DirectTopology::build() const {
    Topology topology;
    add_gpus(topology, gpus);
    topology.links = {link, host_link};
    topology.switches = {host};
    topology.relays = relay;
    for (const DirectEdge& edge : edges)
        join(topology, edge.a, edge.b, edge.lanes, 0);
    const std::uint32_t bridge = add_node(topology, NodeKind::kHost, "host", 0, 0);
    for (std::uint32_t g = 0; g < gpus; ++g)
        join(topology, g, bridge, 1, 1);
    return topology;
}

void FullMeshTopology::check(ParamChecker& checker) const {
    check_ports(build(), checker, {"/host"});
}

Topology FullMeshTopology::build() const {
    DirectTopology mesh{gpus, {}, link, host_link, host};
    for (std::uint32_t a = 0; a < gpus; ++a)
        for (std::uint32_t b = a + 1; b < gpus; ++b)
            mesh.edges.push_back({a, b, lanes});
    return mesh.build();
}

}  // namespace switchfold
