// SPDX-License-Identifier: Apache-2.0
#include "interconnect/topologies/switched.h"

#include "interconnect/topologies/build.h"

#include <fmt/format.h>

namespace switchfold {

void SwitchedTopology::check(ParamChecker& checker) const {
    if (lanes_to_switch.empty())
        checker.error("/lanes_to_switch", "is empty; expected the lanes to at least one switch");
    check_ports(
        build(), checker, {"/switch", "/host_pcie/root", "/host_pcie/switch", "/host_pcie/memory"});
}

Topology SwitchedTopology::build() const {
    Topology topology;
    add_gpus(topology, gpus);
    topology.links = {link};
    topology.switches = {node};
    for (std::uint32_t s = 0; s < lanes_to_switch.size(); ++s) {
        const std::uint32_t index =
            add_node(topology, NodeKind::kSwitch, fmt::format("switch{}", s), 0, 0);
        for (std::uint32_t g = 0; g < gpus; ++g)
            join(topology, g, index, lanes_to_switch[s], 0);
    }
    if (host_pcie)
        host_pcie->add_to(topology);
    return topology;
}

void BoardsTopology::check(ParamChecker& checker) const {
    check_ports(
        build(), checker, {"/switch", "/host_pcie/root", "/host_pcie/switch", "/host_pcie/memory"});
}

Topology BoardsTopology::build() const {
    Topology topology;
    add_gpus(topology, boards * gpus_per_board);
    topology.links = {link, trunk_link};
    topology.switches = {node};
    const auto first = static_cast<std::uint32_t>(topology.nodes.size());
    for (std::uint32_t b = 0; b < boards; ++b)
        for (std::uint32_t s = 0; s < switches_per_board; ++s) {
            const std::uint32_t index =
                add_node(topology, NodeKind::kSwitch, fmt::format("board{}_switch{}", b, s), 0, 0);
            for (std::uint32_t g = 0; g < gpus_per_board; ++g)
                join(topology, b * gpus_per_board + g, index, lanes_to_switch, 0);
            for (std::uint32_t other = 0; other < b; ++other)
                join(topology, first + other * switches_per_board + s, index, trunk_lanes, 1);
        }
    if (host_pcie)
        host_pcie->add_to(topology);
    return topology;
}

}  // namespace switchfold
