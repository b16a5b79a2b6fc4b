// SPDX-License-Identifier: Apache-2.0
// Which groups can be simulated on a few of their ranks, and which kept part stands for which.
#include "models/collectives/shortcuts/rank_symmetry.h"

#include "interconnect/hop.h"
#include "interconnect/topologies/switched.h"
#include "interconnect/topologies/torus.h"
#include "models/collectives/choice/group_layout.h"
#include "models/fidelity.h"
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace switchfold::rank_symmetry_test {
namespace {

Topology switched(std::uint32_t gpus, std::vector<std::uint32_t> lanes = {2, 2, 1}) {
    SwitchedTopology params;
    params.gpus = gpus;
    params.lanes_to_switch = std::move(lanes);
    params.node.multicast = true;
    params.node.reduction.emplace();
    params.node.reduction->max_members = 128;
    return params.build();
}

constexpr double kMiB = 1024.0 * 1024.0;

std::vector<std::vector<std::uint32_t>> rings_of(const Topology& topology) {
    std::vector<std::uint32_t> ranks(topology.gpus());
    std::iota(ranks.begin(), ranks.end(), 0U);
    return ring_orders(topology, ranks, lay_out(topology, ranks));
}

std::optional<RankSymmetry> fold(const Topology& topology) {
    const auto rings = rings_of(topology);
    return fold_rings(topology, topology.gpus(), rings, kMiB / static_cast<double>(rings.size()));
}

TEST(RingFold, TwoRanksStandForAllBehindTheSameSwitches) {
    const Topology topology = switched(36);
    const auto found = fold(topology);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->ranks(), 36U);
    EXPECT_EQ(found->kept(), (std::vector<std::uint32_t>{0, 1}));
    for (std::uint32_t rank = 0; rank < 36; ++rank)
        EXPECT_EQ(found->image_of_node[rank], rank % 2);
    for (std::uint32_t node = 36; node < topology.nodes.size(); ++node)
        EXPECT_EQ(found->image_of_node[node], node);
    for (std::uint32_t hop = 0; hop < 2 * topology.edges.size(); ++hop) {
        const std::uint32_t image = found->image_of_hop[hop];
        ASSERT_NE(image, RankSymmetry::kIdle);
        EXPECT_EQ(topology.edges[edge_of(image)].lanes, topology.edges[edge_of(hop)].lanes);
        EXPECT_EQ(runs_from_b(image), runs_from_b(hop));
    }
}

TEST(RingFold, NoRingOfAPrimeNumberOfRanksFolds) {
    EXPECT_FALSE(fold(switched(37)));
    // Three ranks stand for 33, because 33 is not divisible by two.
    EXPECT_EQ(fold(switched(33))->kept().size(), 3U);
}

TEST(RingFold, ALinkUnlikeItsKindPreventsIt) {
    Topology narrow = switched(36);
    narrow.edges[20].lanes += 1;
    EXPECT_FALSE(fold(narrow));
    Topology cut = switched(36);
    cut.edges[20].down = true;
    EXPECT_FALSE(fold(cut));
    Topology slow = switched(36);
    slow.links.push_back(slow.links.front());
    slow.links.back().latency = microseconds(1);
    slow.edges[20].link_class = static_cast<std::uint32_t>(slow.links.size() - 1);
    EXPECT_FALSE(fold(slow));
}

TEST(RingFold, RingsThatShareALinkUnevenlyPreventIt) {
    // The second ring has the order of the first, except for two swapped ranks.
    const Topology topology = switched(36);
    auto rings = rings_of(topology);
    rings.push_back(rings.front());
    EXPECT_EQ(fold_rings(topology, 36, rings, kMiB / 2)->kept().size(), 2U);
    std::swap(rings.back()[4], rings.back()[6]);
    EXPECT_EQ(
        fold_rings(topology, 36, rings, kMiB / 2)->kept().size(),
        2U);  // ranks 4 and 6 map to the same rank
    std::swap(rings.back()[4], rings.back()[7]);
    EXPECT_FALSE(fold_rings(topology, 36, rings, kMiB / 2));
}

// With two kept ranks, their links would carry data where the ring's links carry replies. With
// more, the way back to the first kept rank crosses the links of all others.
TEST(RingFold, ARingOfDirectLinksDoesNotFold) {
    TorusTopology params;
    params.dimensions = {36};
    std::vector<std::uint32_t> order(36);
    std::iota(order.begin(), order.end(), 0U);
    EXPECT_FALSE(fold_rings(params.build(), 36, {order}, kMiB));
}

TEST(DomainFold, OneRankStandsForAllBehindEqualSwitches) {
    const Topology topology = switched(36, {2, 2, 2});
    const auto found = fold_domain(topology, 36);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->ranks(), 36U);
    EXPECT_EQ(found->kept(), (std::vector<std::uint32_t>{0}));
    for (std::uint32_t node = 36; node < topology.nodes.size(); ++node)
        EXPECT_EQ(found->image_of_node[node], node);
    for (std::uint32_t hop = 0; hop < 2 * topology.edges.size(); ++hop) {
        const TopologyEdge& edge = topology.edges[edge_of(hop)];
        const TopologyEdge& image = topology.edges[edge_of(found->image_of_hop[hop])];
        EXPECT_EQ(std::min(image.a, image.b), 0U);
        EXPECT_EQ(std::max(image.a, image.b), std::max(edge.a, edge.b));
    }
    // If only a part of the domain takes part, the other ranks and their links are idle.
    EXPECT_EQ(fold_domain(topology, 20)->image_of_node[19], 0U);
    EXPECT_EQ(fold_domain(topology, 20)->image_of_node[20], RankSymmetry::kIdle);
}

TEST(DomainFold, ASwitchThatARankCannotReachIsIdle) {
    Topology cut = switched(36, {2, 2, 2});
    cut.edges[20].down = true;
    const auto found = fold_domain(cut, 36);
    ASSERT_TRUE(found);
    const std::uint32_t switch_of = std::max(cut.edges[20].a, cut.edges[20].b);
    for (std::uint32_t node = 36; node < cut.nodes.size(); ++node)
        EXPECT_EQ(found->image_of_node[node], node == switch_of ? RankSymmetry::kIdle : node);
}

TEST(DomainFold, NeedsSwitchesAndLinksOfOneKind) {
    EXPECT_TRUE(fold_domain(switched(36, {2, 2, 1}), 36));
    Topology narrow = switched(36, {2, 2, 2});
    narrow.edges[20].lanes = 1;
    EXPECT_FALSE(fold_domain(narrow, 36));
    Topology plain = switched(36, {2, 2, 2});
    plain.switches.front().reduction.reset();
    EXPECT_FALSE(fold_domain(plain, 36));
    EXPECT_FALSE(fold_domain(switched(36, {2, 2, 2}), 1));
}

TEST(RingFold, MapsEveryHopToOneOfTheSameKindOnAnyMachine) {
    ASSERT_TRUE(rc::check([] {
        const Topology topology = switched(*rc::gen::inRange<std::uint32_t>(4, 80));
        const auto found = fold(topology);
        RC_PRE(found.has_value());
        for (std::uint32_t hop = 0; hop < found->image_of_hop.size(); ++hop) {
            const std::uint32_t image = found->image_of_hop[hop];
            RC_ASSERT(found->image_of_hop[image] == image);
            RC_ASSERT(found->image_of_hop[reversed(hop)] == reversed(image));
        }
    }));
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> both_ways(std::uint32_t machines) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (std::uint32_t machine = 1; machine < machines; ++machine) {
        edges.emplace_back(machine, machine - 1);
        edges.emplace_back(machine - 1, machine);
    }
    return edges;
}

std::optional<RankSymmetry> heads(const Topology& topology, std::uint32_t machines) {
    std::vector<std::uint32_t> ranks(topology.gpus());
    std::iota(ranks.begin(), ranks.end(), 0U);
    return fold_heads(topology, lay_out(topology, ranks), both_ways(machines), mebibytes(1024));
}

TEST(HeadsFold, OneRankOfEachMachineIsKept) {
    const Topology topology = TestMachine::cluster(3, 8);
    const auto found = heads(topology, 3);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->kept(), (std::vector<std::uint32_t>{0, 8, 16}));
    for (std::uint32_t rank = 0; rank < 24; ++rank) {
        EXPECT_EQ(found->image_of_rank[rank], rank / 8 * 8);
        EXPECT_EQ(found->image_of_node[rank], rank / 8 * 8);
    }
    for (std::uint32_t hop = 0; hop < 2 * topology.edges.size(); ++hop) {
        const std::uint32_t image = found->image_of_hop[hop];
        ASSERT_NE(image, RankSymmetry::kIdle);
        EXPECT_EQ(topology.edges[edge_of(image)].lanes, topology.edges[edge_of(hop)].lanes);
        EXPECT_EQ(runs_from_b(image), runs_from_b(hop));
    }
}

TEST(HeadsFold, ARailUnlikeTheOthersPreventsIt) {
    const Topology good = TestMachine::cluster(2, 4);
    ASSERT_TRUE(heads(good, 2));
    for (std::size_t edge = 0; edge < good.edges.size(); ++edge) {
        Topology odd = good;
        odd.edges[edge].lanes += 1;
        EXPECT_FALSE(heads(odd, 2))
            << good.nodes[good.edges[edge].a].name << " " << good.nodes[good.edges[edge].b].name;
    }
}

TEST(HeadsFold, HeadsThatShareANicPreventIt) {
    ClusterTopology params;
    params.nodes = 2;
    params.node.value = TestMachine::hgx(8);
    params.nics.count = 4;
    params.nics.pcie_switches = 4;
    params.network = SingleSwitchNetwork();
    EXPECT_FALSE(heads(params.build(), 2));
}

// Where several NICs serve a GPU, channels fall out of step: docs/notebook/performance.md.
TEST(HeadsFold, IsKnownBestWhereEachGpuHasItsNicAndTheReductionIsLong) {
    const auto fold = [](std::uint32_t nics, Bytes bytes) {
        ClusterTopology params = TestMachine::cluster_of(2, 4);
        params.nics.count = nics;
        const Topology topology = params.build();
        std::vector<std::uint32_t> ranks(topology.gpus());
        std::iota(ranks.begin(), ranks.end(), 0U);
        return fold_heads(topology, lay_out(topology, ranks), both_ways(2), bytes).value();
    };
    EXPECT_LE(fold(4, mebibytes(512)).typical, kAutoError);
    EXPECT_GT(fold(4, mebibytes(511)).typical, kAutoError);
    EXPECT_GT(fold(8, mebibytes(512)).typical, kAutoError);
    EXPECT_LT(fold(4, mebibytes(512)).error, fold(8, mebibytes(512)).error);
}

/// GPUs kept of the first of two machines of so many; 0: no fold.
std::size_t kept_of_a_machine(std::uint32_t gpus) {
    const Topology topology = TestMachine::cluster(2, gpus);
    std::vector<std::uint32_t> ranks(topology.gpus());
    std::iota(ranks.begin(), ranks.end(), 0U);
    const GroupLayout layout = lay_out(topology, ranks);
    const auto found =
        fold_trees(topology, layout, tree_parents(layout, ring_orders(topology, ranks, layout)));
    return found ? found->kept().size() / 2 : 0;
}

TEST(TreeFold, KeepsThreeGpusOfAMachineAtLeastSoThatNeighboursAreDistinct) {
    EXPECT_EQ(kept_of_a_machine(6), 3U);
    EXPECT_EQ(kept_of_a_machine(8), 4U);
    EXPECT_EQ(kept_of_a_machine(9), 3U);
    EXPECT_EQ(kept_of_a_machine(4), 0U);
    EXPECT_EQ(kept_of_a_machine(7), 0U);
}

// Compares the bytes on all links and the end time with those of a simulation of every rank.
TEST(HeadsFold, CarriesTheBytesOfEveryRank) {
    ASSERT_TRUE(rc::check([] {
        const auto machines = *rc::gen::inRange<std::uint32_t>(2, 6);
        const auto gpus = *rc::gen::inRange<std::uint32_t>(3, 9);
        const auto bytes = 4 * *rc::gen::inRange<std::uint64_t>(1'000'000, 5'000'000);
        const Topology topology = TestMachine::cluster(machines, gpus);
        const auto found = heads(topology, machines);
        RC_ASSERT(found.has_value());
        const CollectivePolicy tree{Algorithm::kInSwitchTree, Protocol::kAuto, 0, false};
        CollectiveOperation operation;
        operation.bytes = Bytes(bytes);
        TestMachine every(topology, TestMachine::params(), tree);
        const CollectiveRecord whole = every.run(operation);
        TestMachine few(topology, TestMachine::params(), tree, 0, found->kept(), machines * gpus);
        const CollectiveRecord folded = few.run(operation);
        RC_ASSERT(folded.ranks == whole.ranks);
        const auto duration = [](const CollectiveRecord& record) {
            return to_seconds(record.end - record.ready);
        };
        RC_ASSERT(std::abs(duration(folded) / duration(whole) - 1) < 0.06);
        double in_all = 0;
        double in_few = 0;
        for (std::uint32_t hop = 0; hop < found->image_of_hop.size(); ++hop) {
            in_all += static_cast<double>(every.fabric.links()[hop]->statistics().payload_bytes);
            in_few += static_cast<double>(
                few.fabric.links()[found->image_of_hop[hop]]->statistics().payload_bytes);
        }
        RC_ASSERT(std::abs(in_few / in_all - 1) < 0.02);
    }));
}

}  // namespace
}  // namespace switchfold::rank_symmetry_test
