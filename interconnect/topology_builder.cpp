// SPDX-License-Identifier: Apache-2.0
#include "interconnect/topology_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace switchfold {

namespace {

/// By node; GPUs, hosts and memories have no place of their own.
std::vector<Place> places_of(const Topology& topology) {
    const auto between_machines = [&](std::uint32_t node) {
        return topology.nodes[node].kind == NodeKind::kSwitch &&
               topology.nodes[node].machine == kNoMachine;
    };
    std::vector<Place> places(topology.nodes.size(), Place::kMachine);
    for (std::uint32_t i = 0; i < topology.nodes.size(); ++i) {
        if (topology.nodes[i].kind == NodeKind::kNic)
            places[i] = Place::kNic;
        else if (is_pcie(topology.nodes[i].kind))
            places[i] = Place::kPcie;
        else if (between_machines(i))
            places[i] = Place::kCore;
    }
    for (const TopologyEdge& edge : topology.edges)
        for (const auto& [node, other] : {std::pair{edge.a, edge.b}, std::pair{edge.b, edge.a}})
            if (between_machines(node) && !between_machines(other))
                places[node] = Place::kLeaf;
    std::vector<bool> spine(topology.nodes.size());
    for (const TopologyEdge& edge : topology.edges) {
        spine[edge.a] = spine[edge.a] || places[edge.b] == Place::kLeaf;
        spine[edge.b] = spine[edge.b] || places[edge.a] == Place::kLeaf;
    }
    for (std::uint32_t i = 0; i < topology.nodes.size(); ++i)
        if (places[i] == Place::kCore && spine[i])
            places[i] = Place::kSpine;
    return places;
}

Topology build_all(const TopologyParams& params) {
    return std::visit([](const auto& p) { return p.build(); }, params);
}

bool names_place(const Topology& topology) {
    return std::any_of(
        topology.switches.begin(), topology.switches.end(), [](const SwitchParams& node) {
            return node.reduction && (node.reduction->place || node.reduction->own_place);
        });
}

/// Whether a node that may have the unit has it.
bool stands(
    const ReductionUnitParams& unit, const Topology& topology, std::uint32_t node, Place place) {
    if (unit.own_place)
        return unit.own_place->has_unit(topology, node);
    return !unit.place || *unit.place == place;
}

/// Visits the switches of a topology's parameters, however deep.
template <class T, class Visit>
void for_each_switch(const T& value, const Visit& visit) {
    if constexpr (std::is_same_v<T, SwitchParams>)
        visit(value);
    else if constexpr (requires {
                           value.has_value();
                           *value;
                       }) {
        if (value.has_value())
            for_each_switch(*value, visit);
    } else if constexpr (requires { value.valueless_by_exception(); })
        std::visit([&](const auto& one) { for_each_switch(one, visit); }, value);
    else if constexpr (requires {
                           value.value;
                           value.path;
                       })
        for_each_switch(value.value, visit);
    else if constexpr (requires { T::fields(); })
        for_each_of(
            T::fields(), [&](const auto& field) { for_each_switch(value.*(field.member), visit); });
    else if constexpr (requires { typename T::mapped_type; })
        for (const auto& [key, one] : value)
            for_each_switch(one, visit);
}

}  // namespace

Topology build_topology(const TopologyParams& params) {
    Topology topology = build_all(params);
    if (!names_place(topology))
        return topology;
    const std::vector<Place> places = places_of(topology);
    std::vector<std::uint32_t> without(topology.switches.size());
    for (std::size_t i = 0, classes = topology.switches.size(); i < classes; ++i) {
        without[i] = static_cast<std::uint32_t>(topology.switches.size());
        SwitchParams bare = topology.switches[i];
        bare.reduction.reset();
        topology.switches.push_back(std::move(bare));
    }
    // All are asked before any changes: who is asked sees the machine as it was built.
    std::vector<std::uint32_t> lose_it;
    for (std::uint32_t i = topology.gpus(); i < topology.nodes.size(); ++i)
        if (const auto& unit = topology.switches[topology.nodes[i].switch_class].reduction;
            unit && !stands(*unit, topology, i, places[i]))
            lose_it.push_back(i);
    for (const std::uint32_t node : lose_it)
        topology.nodes[node].switch_class = without[topology.nodes[node].switch_class];
    return topology;
}

bool minds_congestion(const TopologyParams& params) {
    return std::visit(
        [](const auto& topology) {
            if constexpr (requires { topology.congestion; })
                return topology.congestion.has_value();
            else
                return false;
        },
        params);
}

void check_places(const TopologyParams& params, ParamChecker& checker) {
    bool any = false;
    for_each_switch(params, [&](const SwitchParams& node) {
        any = any || (node.reduction && node.reduction->place);
    });
    if (!any)  // a large topology is not built once more
        return;
    const Topology topology = build_all(params);
    const std::vector<Place> places = places_of(topology);
    for (std::uint32_t make = 0; make < topology.switches.size(); ++make) {
        const auto& unit = topology.switches[make].reduction;
        if (!unit || !unit->place)
            continue;
        std::set<std::string_view> has;
        for (std::uint32_t i = topology.gpus(); i < topology.nodes.size(); ++i)
            if (topology.nodes[i].switch_class == make)
                has.insert(enum_name(places[i]));
        if (!has.contains(enum_name(*unit->place)))
            checker.error(
                "/topology",
                fmt::format(
                    "has a reduction unit whose place is {}, which none of its switches is; "
                    "expected one of: {}",
                    enum_name(*unit->place), fmt::join(has, ", ")));
    }
}

}  // namespace switchfold
