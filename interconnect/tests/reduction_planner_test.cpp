// SPDX-License-Identifier: Apache-2.0
#include "interconnect/reduction_planner.h"

#include "interconnect/rings.h"
#include "interconnect/topology_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>

namespace switchfold::reduction_planner_test {
namespace {

/// Machines of four GPUs whose switches reduce, on one switch that does as well if asked.
Topology machines_of_four(std::uint32_t machines, bool network_reduces) {
    SwitchedTopology machine;
    machine.gpus = 4;
    machine.lanes_to_switch = {2, 2};
    machine.node.multicast = true;
    machine.node.reduction = ReductionUnitParams{};
    ClusterTopology cluster;
    cluster.nodes = machines;
    cluster.node.value = machine;
    cluster.nics.count = 4;
    cluster.nics.pcie_switches = 4;
    cluster.nics.gpu_link = LinkParams{};
    cluster.network = SingleSwitchNetwork{};
    Topology topology = cluster.build();
    for (const TopologyNode& node : topology.nodes)
        if (network_reduces && node.machine == kNoMachine) {
            topology.switches[node.switch_class].multicast = true;
            topology.switches[node.switch_class].reduction = ReductionUnitParams{};
        }
    return topology;
}

std::vector<std::uint32_t> consecutive(std::uint32_t from, std::uint32_t count) {
    std::vector<std::uint32_t> ranks(count);
    std::iota(ranks.begin(), ranks.end(), from);
    return ranks;
}

void expect_equal(const ReductionPlan& one, const ReductionPlan& other) {
    EXPECT_EQ(one.why_not, other.why_not);
    ASSERT_EQ(one.trees.size(), other.trees.size());
    for (std::size_t t = 0; t < one.trees.size(); ++t) {
        EXPECT_EQ(one.trees[t].uplinks, other.trees[t].uplinks);
        EXPECT_EQ(one.trees[t].weight, other.trees[t].weight);
        ASSERT_EQ(one.trees[t].nodes.size(), other.trees[t].nodes.size());
        for (std::size_t n = 0; n < one.trees[t].nodes.size(); ++n) {
            const ReductionTreeNode& a = one.trees[t].nodes[n];
            const ReductionTreeNode& b = other.trees[t].nodes[n];
            EXPECT_EQ(a.node, b.node);
            EXPECT_EQ(a.up, b.up);
            EXPECT_EQ(a.down, b.down);
            EXPECT_EQ(a.towards, b.towards);
            EXPECT_EQ(a.leaves, b.leaves);
            EXPECT_EQ(a.answers, b.answers);
            EXPECT_EQ(a.reduces, b.reduces);
        }
    }
}

TEST(ReductionPlanner, RemembersNothingOfTheGroupBefore) {
    for (const bool network_reduces : {false, true}) {
        const Topology topology = machines_of_four(6, network_reduces);
        ReductionPlanner planner(topology);
        // Inside machines, across them, of both, of too few, and in another order.
        const std::vector<std::vector<std::uint32_t>> groups{
            consecutive(0, 4), consecutive(20, 4), consecutive(0, 24), {1, 5, 9, 13}, {3},
            {2, 3, 7},         consecutive(4, 4),  {9, 5, 1},          {8, 11}};
        for (int round = 0; round < 2; ++round)
            for (const auto& group : groups)
                expect_equal(planner.plan(group), plan_reduction(topology, group));
        EXPECT_EQ(planner.plan(consecutive(8, 4)).trees.size(), 2U);
        EXPECT_EQ(planner.plan(consecutive(0, 24)).trees.empty(), !network_reduces);
    }
}

TEST(ReductionPlanner, AGroupCostsItsPartOfTheMachine) {
    constexpr std::uint32_t kMachines = 4096;
    const Topology topology = machines_of_four(kMachines, false);
    ReductionPlanner planner(topology);
    const auto start = std::chrono::steady_clock::now();
    for (std::uint32_t machine = 0; machine < kMachines; ++machine)
        ASSERT_EQ(planner.plan(consecutive(4 * machine, 4)).trees.size(), 2U);
    // Some 20 ms; searches of the whole cluster take minutes.
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(Rings, WithNeighboursAreTheSame) {
    const Topology topology = machines_of_four(3, false);
    for (const auto& ranks : {consecutive(0, 4), consecutive(4, 8), consecutive(11, 1)})
        EXPECT_EQ(find_rings(topology, adjacency_of(topology), ranks), find_rings(topology, ranks));
}

}  // namespace
}  // namespace switchfold::reduction_planner_test
