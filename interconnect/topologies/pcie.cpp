// SPDX-License-Identifier: Apache-2.0
#include "interconnect/topologies/pcie.h"

#include "interconnect/topologies/build.h"

#include <fmt/format.h>

namespace switchfold {

void PcieTopology::check(ParamChecker& checker) const {
    const auto need = [&](bool wanted, bool there, std::string_view key, std::string_view why) {
        if (wanted && !there)
            checker.error(key, fmt::format("is missing; expected it with {}", why));
    };
    need(switches > 0, switch_link.has_value(), "/switch_link", "PCIe switches");
    need(roots > 1, root_link.has_value(), "/root_link", "several root complexes");
    need(!peer_to_peer, memory_link.has_value(), "/memory_link", "peer_to_peer false");
    need(!bridges.empty(), bridge_link.has_value(), "/bridge_link", "bridges");
    if (switches % roots != 0)
        checker.error(
            "/switches",
            fmt::format("is {}; expected a multiple of {} root complexes", switches, roots));
    check_edges(bridges, gpus, "/bridges", checker);
    if (checker.found().empty())
        check_ports(build(), checker, {"/root", "/switch", "/memory"});
}

Topology PcieTopology::build() const {
    Topology topology;
    add_gpus(topology, gpus);
    topology.switches = {root, node, memory};
    const std::uint32_t gpu_wire = add_link_class(topology, gpu_link);
    const std::uint32_t first_root = gpus;
    for (std::uint32_t r = 0; r < roots; ++r)
        add_node(topology, NodeKind::kHost, fmt::format("host{}", r), 0, 0);
    const std::uint32_t first_switch = first_root + roots;
    for (std::uint32_t s = 0; s < switches; ++s)
        add_node(topology, NodeKind::kPcie, fmt::format("pcie{}", s), 1, 0);
    for (std::uint32_t g = 0; g < gpus; ++g)
        join(
            topology,
            g,
            switches > 0 ? first_switch + g * switches / gpus : first_root + g * roots / gpus,
            1,
            gpu_wire);
    if (switches > 0) {
        const std::uint32_t wire = add_link_class(topology, *switch_link);
        for (std::uint32_t s = 0; s < switches; ++s)
            join(topology, first_switch + s, first_root + s * roots / switches, 1, wire);
    }
    if (roots > 1) {
        const std::uint32_t wire = add_link_class(topology, *root_link);
        for (std::uint32_t a = 0; a < roots; ++a)
            for (std::uint32_t b = a + 1; b < roots; ++b)
                join(topology, first_root + a, first_root + b, 1, wire);
    }
    if (!peer_to_peer) {
        const std::uint32_t wire = add_link_class(topology, *memory_link);
        for (std::uint32_t r = 0; r < roots; ++r) {
            const std::uint32_t store =
                add_node(topology, NodeKind::kMemory, fmt::format("memory{}", r), 2, 0);
            join(topology, first_root + r, store, 1, wire);
        }
    }
    if (!bridges.empty()) {
        const std::uint32_t wire = add_link_class(topology, *bridge_link);
        for (const DirectEdge& edge : bridges)
            join(topology, edge.a, edge.b, edge.lanes, wire);
    }
    return topology;
}

}  // namespace switchfold
