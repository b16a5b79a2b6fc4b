// SPDX-License-Identifier: Apache-2.0
// Which rings can be simulated on a few of their ranks, and what resembles what.
#include "models/collectives/choice/rank_fold.h"

#include "interconnect/hop.h"
#include "interconnect/topologies/switched.h"
#include "interconnect/topologies/torus.h"
#include "models/collectives/choice/group_layout.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace switchfold::rank_fold_test {
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

std::vector<std::vector<std::uint32_t>> rings_of(const Topology& topology) {
    std::vector<std::uint32_t> ranks(topology.gpus());
    std::iota(ranks.begin(), ranks.end(), 0U);
    return ring_orders(topology, ranks, lay_out(topology, ranks));
}

std::optional<RankFold> fold(const Topology& topology) {
    return fold_rings(topology, rings_of(topology));
}

TEST(RingFold, TwoRanksStandForAllBehindTheSameSwitches) {
    const Topology topology = switched(36);
    const auto found = fold(topology);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->ranks, 36U);
    EXPECT_EQ(found->kept, 2U);
    for (std::uint32_t rank = 0; rank < 36; ++rank)
        EXPECT_EQ(found->image_of_node[rank].node, rank % 2);
    for (std::uint32_t node = 36; node < topology.nodes.size(); ++node) {
        EXPECT_EQ(found->image_of_node[node].node, node);
        EXPECT_EQ(found->image_of_node[node].times, 18U);
    }
    for (std::uint32_t hop = 0; hop < 2 * topology.edges.size(); ++hop) {
        const std::uint32_t image = found->image_of_hop[hop];
        ASSERT_NE(image, RankFold::kIdle);
        EXPECT_EQ(topology.edges[edge_of(image)].lanes, topology.edges[edge_of(hop)].lanes);
        EXPECT_EQ(runs_from_b(image), runs_from_b(hop));
    }
}

TEST(RingFold, NoRingOfAPrimeNumberOfRanksFolds) {
    EXPECT_FALSE(fold(switched(37)));
    // Three ranks stand for 33, since two do not divide them.
    EXPECT_EQ(fold(switched(33))->kept, 3U);
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
    // The second ring goes round the same way but for two ranks, which it visits in exchange.
    const Topology topology = switched(36);
    auto rings = rings_of(topology);
    rings.push_back(rings.front());
    EXPECT_EQ(fold_rings(topology, rings)->kept, 2U);
    std::swap(rings.back()[4], rings.back()[6]);
    EXPECT_EQ(fold_rings(topology, rings)->kept, 2U);  // ranks 4 and 6 stand at the same places
    std::swap(rings.back()[4], rings.back()[7]);
    EXPECT_FALSE(fold_rings(topology, rings));
}

// Two neighbours' links would carry data where the ring's carry replies, and the way back to the
// first of more ranks crosses the links of all others.
TEST(RingFold, ARingOfDirectLinksDoesNotFold) {
    TorusTopology params;
    params.dimensions = {36};
    std::vector<std::uint32_t> order(36);
    std::iota(order.begin(), order.end(), 0U);
    EXPECT_FALSE(fold_rings(params.build(), {order}));
}

TEST(DomainFold, OneRankStandsForAllBehindEqualSwitches) {
    const Topology topology = switched(36, {2, 2, 2});
    const auto found = fold_domain(topology, 36);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->ranks, 36U);
    EXPECT_EQ(found->kept, 1U);
    for (std::uint32_t node = 36; node < topology.nodes.size(); ++node) {
        EXPECT_EQ(found->image_of_node[node].node, node);
        EXPECT_EQ(found->image_of_node[node].times, 36U);
    }
    for (std::uint32_t hop = 0; hop < 2 * topology.edges.size(); ++hop) {
        const TopologyEdge& edge = topology.edges[edge_of(hop)];
        const TopologyEdge& image = topology.edges[edge_of(found->image_of_hop[hop])];
        EXPECT_EQ(std::min(image.a, image.b), 0U);
        EXPECT_EQ(std::max(image.a, image.b), std::max(edge.a, edge.b));
    }
    // A part of the domain: the links of the others are idle.
    EXPECT_EQ(fold_domain(topology, 20)->image_of_node[19].node, 0U);
    EXPECT_EQ(fold_domain(topology, 20)->image_of_node[20].node, RankFold::kIdle);
}

TEST(DomainFold, ASwitchThatARankCannotReachIsIdle) {
    Topology cut = switched(36, {2, 2, 2});
    cut.edges[20].down = true;
    const auto found = fold_domain(cut, 36);
    ASSERT_TRUE(found);
    const std::uint32_t switch_of = std::max(cut.edges[20].a, cut.edges[20].b);
    for (std::uint32_t node = 36; node < cut.nodes.size(); ++node)
        EXPECT_EQ(found->image_of_node[node].node, node == switch_of ? RankFold::kIdle : node);
}

TEST(DomainFold, NeedsSwitchesAndLinksOfOneKind) {
    EXPECT_FALSE(fold_domain(switched(36, {2, 2, 1}), 36));
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

}  // namespace
}  // namespace switchfold::rank_fold_test
