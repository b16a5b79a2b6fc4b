// SPDX-License-Identifier: Apache-2.0
#include "interconnect/topologies/pcie_tree.h"

#include "interconnect/topologies/build.h"

#include <fmt/format.h>

namespace switchfold {

void PcieTree::check(ParamChecker& checker) const {
    if (switches > 0 && !switch_link)
        checker.error("/switch_link", "is missing; expected it with PCIe switches");
    if (roots > 1 && !root_link)
        checker.error("/root_link", "is missing; expected it with several root complexes");
    if (switches % roots != 0)
        checker.error(
            "/switches",
            fmt::format("is {}; expected a multiple of {} root complexes", switches, roots));
}

void PcieTree::add_to(Topology& topology) const {
    const std::uint32_t gpus = topology.gpus();
    const std::uint32_t root_class = add_switch_class(topology, root);
    const std::uint32_t switch_class = add_switch_class(topology, node);
    const std::uint32_t memory_class = add_switch_class(topology, memory);
    const std::uint32_t gpu_wire = add_link_class(topology, gpu_link);
    const auto first_root = static_cast<std::uint32_t>(topology.nodes.size());
    for (std::uint32_t r = 0; r < roots; ++r)
        add_node(topology, NodeKind::kHost, fmt::format("host{}", r), root_class, 0);
    const std::uint32_t first_switch = first_root + roots;
    for (std::uint32_t s = 0; s < switches; ++s)
        add_node(topology, NodeKind::kPcie, fmt::format("pcie{}", s), switch_class, 0);
    for (std::uint32_t g = 0; g < gpus; ++g)
        join(
            topology, g,
            switches > 0 ? first_switch + g * switches / gpus : first_root + g * roots / gpus, 1,
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
    if (memory_link) {
        const std::uint32_t wire = add_link_class(topology, *memory_link);
        for (std::uint32_t r = 0; r < roots; ++r) {
            const std::uint32_t store =
                add_node(topology, NodeKind::kMemory, fmt::format("memory{}", r), memory_class, 0);
            join(topology, first_root + r, store, 1, wire);
        }
    }
}

}  // namespace switchfold
