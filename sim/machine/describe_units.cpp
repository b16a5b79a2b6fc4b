// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/describe_units.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

namespace {

/// Two significant digits: more would promise what the numbers do not hold.
std::string rough(double value) {
    int decimals = 1;
    for (double limit = 10; decimals > 0 && value >= limit; limit *= 10)
        --decimals;
    for (double limit = 1; decimals < 9 && value > 0 && value < limit; limit /= 10)
        ++decimals;
    return fmt::format("{:.{}f}", value, decimals);
}

std::string rough(const CostRange& range) {
    return fmt::format("{} to {}", rough(range.low), rough(range.high));
}

OrderedJson json_of(const CostRange& range) {
    return {{"at_least", range.low}, {"at_most", range.high}};
}

}  // namespace

std::vector<UnitKind> unit_kinds(const Topology& topology, std::uint32_t node) {
    std::vector<std::uint32_t> lanes(topology.nodes.size());
    std::vector<std::uint32_t> tables(topology.nodes.size(), 1);
    const auto reduces = [&](std::uint32_t i) {
        return topology.nodes[i].kind != NodeKind::kGpu &&
               topology.switches[topology.nodes[i].switch_class].reduction.has_value();
    };
    for (const TopologyEdge& edge : topology.edges) {
        lanes[edge.a] += edge.lanes;
        lanes[edge.b] += edge.lanes;
        if (reduces(edge.a) && reduces(edge.b))
            tables[edge.a] = tables[edge.b] = 2;
    }
    std::vector<UnitKind> kinds;
    for (std::uint32_t i = 0; i < topology.nodes.size(); ++i) {
        if (!reduces(i))
            continue;
        const std::uint32_t make = topology.nodes[i].switch_class;
        auto at = std::find_if(kinds.begin(), kinds.end(), [&](const UnitKind& kind) {
            return kind.switch_class == make && kind.lanes == lanes[i] && kind.tables == tables[i];
        });
        if (at == kinds.end())
            at = kinds.insert(
                at, {topology.nodes[i].name, make, lanes[i], tables[i], 0,
                     unit_cost(*topology.switches[make].reduction, {1, tables[i], node, false})});
        ++at->switches;
    }
    return kinds;
}

std::string describe_units(const Topology& topology, std::uint32_t node) {
    std::string out;
    for (const UnitKind& kind : unit_kinds(topology, node)) {
        const CostRange one = kind.lane.mm2();
        out += fmt::format(
            "  reduction units of {} switch{} like {} (estimate at {} nm): {} mm2 a lane, {} mm2 a "
            "switch of {} lanes; {} pJ a byte of float32\n",
            kind.switches, kind.switches == 1 ? "" : "es", kind.example, node, rough(one),
            rough(one.times(kind.lanes)), kind.lanes, rough(kind.lane.pj_per_byte[0]));
    }
    return out;
}

OrderedJson units_json(const Topology& topology, std::uint32_t node) {
    OrderedJson kinds = OrderedJson::array();
    CostRange all;
    for (const UnitKind& kind : unit_kinds(topology, node)) {
        const CostRange one = kind.lane.mm2();
        all += one.times(static_cast<double>(kind.lanes) * static_cast<double>(kind.switches));
        OrderedJson energy = OrderedJson::object();
        for (const auto& [type, word] : EnumNames<ElementType>::kNames)
            if (const CostRange& pj = kind.lane.pj_per_byte[static_cast<std::size_t>(type)];
                pj.high > 0)
                energy[std::string(word)] = json_of(pj);
        kinds.push_back(
            {{"like", kind.example},
             {"switches", kind.switches},
             {"lanes", kind.lanes},
             {"tables", kind.tables},
             {"lane_mm2", json_of(one)},
             {"adders_mm2", json_of(kind.lane.adders_mm2)},
             {"sums_mm2", json_of(kind.lane.sums_mm2)},
             {"entries_mm2", json_of(kind.lane.entries_mm2)},
             {"pj_per_byte", std::move(energy)}});
    }
    return {
        {"schema", "switchfold-units-1"},
        {"node_nm", node},
        {"units", std::move(kinds)},
        {"all_mm2", json_of(all)}};
}

}  // namespace switchfold
