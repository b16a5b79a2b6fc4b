// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "interconnect/fault_injector.h"
#include "models/collectives/choice/machine_view.h"
#include "models/tests/test_machine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::in_switch_families_test {
namespace {

ReductionUnitParams some_unit() {
    ReductionUnitParams unit;
    unit.entries = *rc::gen::inRange(1U, 64U);
    unit.buffer = Bytes(*rc::gen::inRange<std::uint64_t>(128, 65'536));
    unit.line = Bytes(std::uint64_t{16} << *rc::gen::inRange(0U, 6U));
    unit.when_full = *rc::gen::element(WhenFull::kStall, WhenFull::kEvict, WhenFull::kRefuse);
    unit.group_entries = *rc::gen::inRange(1U, 80U);
    unit.timeout = nanoseconds(*rc::gen::element<std::uint64_t>(0, 500, 3'000, 20'000));
    if (unit.when_full == WhenFull::kEvict)
        unit.timeout = std::max(unit.timeout, nanoseconds(500));
    unit.accumulation = *rc::gen::element(Accumulation::kElement, Accumulation::kFloat32);
    unit.max_groups = *rc::gen::inRange(1U, 9U);
    return unit;
}

LinkParams some_link() {
    LinkParams link;
    link.buffer_per_lane = Bytes(std::uint64_t{256} << *rc::gen::inRange(0U, 8U));
    link.latency = nanoseconds(*rc::gen::inRange<std::uint64_t>(0, 600));
    return link;
}

Topology boards(const SwitchParams& node) {
    BoardsTopology t;
    t.boards = *rc::gen::inRange(2U, 4U);
    t.gpus_per_board = *rc::gen::inRange(1U, 4U);
    t.switches_per_board = *rc::gen::inRange(1U, 3U);
    t.trunk_lanes = *rc::gen::inRange(1U, 4U);
    t.link = some_link();
    t.trunk_link = some_link();
    t.node = node;
    return t.build();
}

Topology fat_tree(const SwitchParams& node) {
    FatTreeNetwork tree;
    tree.levels = *rc::gen::inRange(2U, 4U);
    tree.ports = 4;
    tree.link = some_link();
    tree.switch_link = some_link();
    tree.node = node;
    NetworkTopology t;
    t.gpus = *rc::gen::inRange(2U, 9U);
    t.network = tree;
    return t.build();
}

/// Switches in a random tree, not all of which can reduce. Some GPUs have links to two switches.
Topology graph(const SwitchParams& node) {
    GraphTopology t;
    SwitchParams plain = node;
    plain.reduction.reset();
    t.switches = {{"adds", node}, {"passes", plain}};
    t.links = {{"a", some_link()}, {"b", some_link()}};
    const auto join = [&t](const std::string& a, const std::string& b) {
        t.edges.push_back({a, b, *rc::gen::inRange(1U, 4U), *rc::gen::element("a", "b")});
    };
    const std::uint32_t gpus = *rc::gen::inRange(2U, 8U);
    const std::uint32_t switches = *rc::gen::inRange(1U, 5U);
    for (std::uint32_t g = 0; g < gpus; ++g)
        t.nodes.push_back({fmt::format("gpu{}", g), NodeKind::kGpu, {}, {}});
    for (std::uint32_t s = 0; s < switches; ++s) {
        const bool adds = *rc::gen::inRange(0, 6) > 0;
        t.nodes.push_back(
            {fmt::format("sw{}", s), NodeKind::kSwitch, adds ? "adds" : "passes", 0U});
        if (s > 0)
            join(fmt::format("sw{}", *rc::gen::inRange(0U, s)), t.nodes.back().name);
    }
    for (std::uint32_t g = 0; g < gpus; ++g) {
        const std::uint32_t first = *rc::gen::inRange(0U, switches);
        join(t.nodes[g].name, fmt::format("sw{}", first));
        if (switches > 1 && *rc::gen::arbitrary<bool>())
            join(t.nodes[g].name, fmt::format("sw{}", (first + 1) % switches));
    }
    return t.build();
}

Topology some_machine() {
    SwitchParams node;
    node.multicast = true;
    node.reduction = some_unit();
    switch (*rc::gen::inRange(0, 4)) {
    case 0: {
        SwitchedTopology t = TestMachine::hgx(*rc::gen::inRange(2U, 9U));
        t.link.buffer_per_lane = some_link().buffer_per_lane;
        t.node = node;
        return t.build();
    }
    case 1:
        return boards(node);
    case 2:
        return fat_tree(node);
    default:
        return graph(node);
    }
}

std::vector<FaultParams> some_faults(const Topology& topology) {
    std::vector<FaultParams> faults;
    for (int left = *rc::gen::inRange(0, 4); left > 0; --left) {
        const TopologyEdge& edge =
            topology.edges[*rc::gen::inRange<std::size_t>(0, topology.edges.size())];
        const std::string link = topology.nodes[edge.a].name + "_to_" + topology.nodes[edge.b].name;
        const Time at = nanoseconds(
            *rc::gen::element<std::uint64_t>(0, 1, 30) *
            *rc::gen::inRange<std::uint64_t>(0, 1'000));
        switch (*rc::gen::inRange(0, 4)) {
        case 0:
            faults.emplace_back(LinkDownFault{link, at});
            break;
        case 1:
            faults.emplace_back(LinkDegradedFault{link, *rc::gen::inRange(1'000U, 1'000'001U), at});
            break;
        case 2:
            faults.emplace_back(BitErrorsFault{link, 1e-5, at});
            break;
        default:
            for (const TopologyNode& node : topology.nodes)
                if (node.kind == NodeKind::kSwitch &&
                    topology.switches[node.switch_class].reduction && *rc::gen::arbitrary<bool>()) {
                    faults.emplace_back(ReductionTimeoutFault{node.name, at});
                    break;
                }
        }
    }
    return faults;
}

/// Whether an error message names a node of the topology.
bool names_a_component(const Topology& topology, std::string_view text) {
    return std::any_of(topology.nodes.begin(), topology.nodes.end(), [&](const TopologyNode& node) {
        return text.find(node.name) != std::string_view::npos;
    });
}

/// Without a timeout, pushed lines wait forever if a unit failed or if their operands queue behind
/// others that find no free entry. The run then ends early and reports where.
bool may_stick(const Topology& topology, InSwitchMode mode) {
    return mode == InSwitchMode::kPush &&
           std::any_of(topology.switches.begin(), topology.switches.end(), [](const auto& node) {
               return node.reduction && node.reduction->timeout == Time();
           });
}

struct Count final : CollectiveListener {
    void on_collective_end(std::uint32_t) override { ++ended; }
    std::uint32_t ended = 0;
};

/// Concurrent all-reduces of one group on a random machine with random faults: every sum is right,
/// or the run ends with an error that names the component at fault.
RC_GTEST_PROP(InSwitchFamilies, ARightSumOrAnErrorThatNamesAComponent, ()) {
    const Topology topology = some_machine();
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t rank = 0; rank < topology.gpus(); ++rank)
        if (rank < 2 || *rc::gen::inRange(0, 4) > 0)
            ranks.push_back(rank);
    CollectivePolicy policy;
    policy.algorithm = Algorithm::kInSwitch;
    policy.registered = *rc::gen::arbitrary<bool>();
    policy.mode = *rc::gen::element(InSwitchMode::kPull, InSwitchMode::kPush);
    policy.channels = *rc::gen::inRange(0U, 5U);
    CollectiveParams params = TestMachine::params();
    params.transfer_unit = Bytes(std::uint64_t{128} << *rc::gen::inRange(0U, 6U));
    params.in_switch_chunk = kibibytes(std::uint64_t{1} << *rc::gen::inRange(0U, 8U));
    const std::vector<FaultParams> faults = some_faults(topology);
    const auto collectives = *rc::gen::inRange(1U, 4U);
    TestMachine machine(topology, params, policy, 1, ranks);
    Count members;
    try {
        const FaultInjector injector(machine.fabric, faults, 7);
        for (std::uint32_t sequence = 0; sequence < collectives; ++sequence) {
            CollectiveOperation operation;
            operation.sequence = sequence;
            operation.datatype =
                *rc::gen::element(Datatype::kFloat32, Datatype::kFloat16, Datatype::kBfloat16);
            operation.bytes = Bytes(
                *rc::gen::inRange<std::uint64_t>(1, 20'000) * size_of(operation.datatype).count());
            for (const std::uint32_t rank : ranks)
                machine.engine->start(rank, rank, operation, 0, members);
        }
        machine.simulation.run();
    } catch (const SimulationError& error) {
        RC_TAG(std::string("error"));
        const bool possible = why_not(Algorithm::kInSwitch, topology, ranks).empty();
        RC_ASSERT(!possible || names_a_component(topology, error.what()));
        RC_ASSERT(!possible || !faults.empty());
        return;
    }
    RC_TAG(std::string(machine.engine->notes().empty() ? "in the switch" : "fell back"));
    if (may_stick(topology, policy.mode) && !machine.engine->blocked().empty()) {
        const std::vector<std::string> where = machine.fabric.blocked();
        RC_ASSERT(names_a_component(topology, fmt::format("{}", fmt::join(where, " "))));
        return;
    }
    RC_ASSERT(machine.engine->blocked() == std::vector<std::string>{});
    RC_ASSERT(members.ended == collectives * ranks.size());
    RC_ASSERT(machine.engine->wrong_results() == std::vector<std::string>{});
    RC_ASSERT(machine.fabric.values().live() == 0U);
    RC_ASSERT(machine.fabric.blocked() == std::vector<std::string>{} || !faults.empty());
    for (const auto& link : machine.fabric.links())
        RC_ASSERT(
            link->outstanding(VirtualChannel::kRequest) + link->outstanding(VirtualChannel::kDown) +
                link->outstanding(VirtualChannel::kResponse) ==
            0U);
}

}  // namespace
}  // namespace switchfold::in_switch_families_test
