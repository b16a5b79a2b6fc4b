// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/fault_injector.h"
#include "interconnect/topologies/switched.h"
#include "models/tests/test_machine.h"

#include <rapidcheck.h>

#include <string>
#include <vector>

namespace switchfold {

/// Two of four GPUs each, with quotas and priorities or without.
inline std::vector<UnitTenant> some_tenants(std::uint32_t entries) {
    std::vector<UnitTenant> tenants{{{0, 1, 2, 3}}, {{4, 5, 6, 7}}};
    std::uint32_t left = entries;
    for (UnitTenant& tenant : tenants) {
        tenant.entries = *rc::gen::inRange(0U, left + 1);
        tenant.priority = *rc::gen::inRange(0U, 3U);
        left -= tenant.entries;
    }
    return tenants;
}

/// Any table, and any way to be full.
inline ReductionUnitParams random_unit() {
    ReductionUnitParams unit;
    unit.entries = *rc::gen::inRange(1U, 64U);
    unit.buffer = Bytes(*rc::gen::inRange<std::uint64_t>(128, 65'536));
    unit.when_full = *rc::gen::element(WhenFull::kStall, WhenFull::kEvict, WhenFull::kRefuse);
    unit.group_entries = *rc::gen::inRange(1U, 80U);
    unit.timeout = nanoseconds(*rc::gen::inRange<std::uint64_t>(500, 20'000));
    unit.accumulation = *rc::gen::element(Accumulation::kElement, Accumulation::kFloat32);
    if (unit.when_full != WhenFull::kRefuse && *rc::gen::inRange(0, 3) == 0)
        unit.tenants = some_tenants(unit.entries);
    return unit;
}

/// One domain of four switches, or two boards of two switches that are joined to their twins; a
/// random number of GPUs.
inline Topology machine_with(const ReductionUnitParams& unit, bool boards) {
    if (!boards) {
        SwitchedTopology t = TestMachine::hgx(*rc::gen::inRange(2U, 9U));
        t.node.reduction = unit;
        return t.build();
    }
    BoardsTopology t;
    t.gpus_per_board = *rc::gen::inRange(1U, 5U);
    t.switches_per_board = 2;
    t.trunk_lanes = 2;
    t.link = t.trunk_link = TestMachine::hgx(2).link;
    t.node.multicast = true;
    t.node.reduction = unit;
    return t.build();
}

/// A random link's name, as faults have it.
inline std::string some_link(const Topology& topology) {
    const TopologyEdge& edge =
        topology.edges[*rc::gen::inRange<std::size_t>(0, topology.edges.size())];
    return topology.nodes[edge.a].name + "_to_" + topology.nodes[edge.b].name;
}

/// No fault, or one of a link or of a switch's reduction units, at a random time.
inline std::vector<FaultParams> some_fault(const Topology& topology) {
    const Time at = nanoseconds(*rc::gen::inRange<std::uint64_t>(0, 20'000));
    const int fault = *rc::gen::inRange(0, 4);
    if (fault == 1)
        return {LinkDownFault{some_link(topology), at}};
    if (fault == 2)
        return {ReductionTimeoutFault{topology.nodes[topology.gpus()].name, at}};
    if (fault == 3)
        return {BitErrorsFault{some_link(topology), 1e-5, at}};
    return {};
}

}  // namespace switchfold
