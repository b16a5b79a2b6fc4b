// SPDX-License-Identifier: Apache-2.0
#include "interconnect/faults.h"

#include <fmt/format.h>

#include <utility>

namespace switchfold {

std::vector<std::uint32_t> edges_named(const Topology& topology, std::string_view name) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < topology.edges.size(); ++i) {
        const std::string& a = topology.nodes[topology.edges[i].a].name;
        const std::string& b = topology.nodes[topology.edges[i].b].name;
        for (const std::string& label : {a + "_to_" + b, b + "_to_" + a})
            if (name == label || name == fmt::format("{}_e{}", label, i))
                found.push_back(i);
    }
    return found;
}

const std::string& component_of(const FaultParams& fault) {
    return std::visit([](const auto& f) -> const std::string& { return f.component; }, fault);
}

namespace {

std::string why_not_here(const Topology& topology, const FaultParams& fault) {
    const std::string& name = component_of(fault);
    if (!std::holds_alternative<ReductionTimeoutFault>(fault)) {
        if (!edges_named(topology, name).empty())
            return {};
        std::string example;
        if (!topology.edges.empty())
            example = fmt::format(
                " such as {}_to_{}", topology.nodes[topology.edges.front().a].name,
                topology.nodes[topology.edges.front().b].name);
        return fmt::format(
            "names {}, which is not a link of this machine; expected a link{}", name, example);
    }
    std::string example;
    for (const TopologyNode& node : topology.nodes) {
        if (node.kind == NodeKind::kGpu || !topology.switches[node.switch_class].reduction)
            continue;
        if (node.name == name)
            return {};
        if (example.empty())
            example = " such as " + node.name;
    }
    return fmt::format(
        "names {}, which is not a switch that can reduce; expected one{}", name, example);
}

}  // namespace

std::vector<std::pair<std::size_t, std::string>>
check_faults(const Topology& topology, const std::vector<FaultParams>& faults) {
    std::vector<std::pair<std::size_t, std::string>> problems;
    for (std::size_t i = 0; i < faults.size(); ++i)
        if (std::string why = why_not_here(topology, faults[i]); !why.empty())
            problems.emplace_back(i, std::move(why));
    return problems;
}

}  // namespace switchfold
