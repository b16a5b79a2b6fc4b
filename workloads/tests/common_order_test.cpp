// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/common_order.h"

#include "workloads/graph/serial_order.h"
#include "workloads/graph/shared_waits.h"
#include "workloads/graph/without_overlap.h"
#include "workloads/tests/random_graph.h"
#include "workloads/tests/random_ranks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

namespace switchfold::common_order_test {
namespace {

using test_data::RankBuilder;
using test_data::runs_through;

/// Places of a rank's collectives in its order, by group and sequence.
std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> places(const RankGraph& rank) {
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> found;
    for (std::size_t i = 0; i < rank.operations.size(); ++i)
        if (const auto* c = std::get_if<CollectiveOperation>(&rank.operations[i].body))
            found[{c->group, c->sequence}] = i;
    return found;
}

bool same_order_on_all(const ExecutionGraph& graph) {
    for (const auto& one : graph.ranks)
        for (const auto& other : graph.ranks) {
            const auto here = places(*one);
            const auto there = places(*other);
            for (const auto& [a, a_here] : here)
                for (const auto& [b, b_here] : here)
                    if (there.contains(a) && there.contains(b) &&
                        (a_here < b_here) != (there.at(a) < there.at(b)))
                        return false;
        }
    return true;
}

/// Each rank as if it were alone.
ExecutionGraph alone(const ExecutionGraph& graph) {
    ExecutionGraph out = graph;
    for (auto& rank : out.ranks) {
        ExecutionGraph one = graph;
        one.ranks = {rank};
        rank = without_overlap(one).ranks[0];
    }
    return out;
}

ExecutionGraph graph_of(std::vector<RankGraph> ranks, std::vector<Group> groups) {
    ExecutionGraph graph;
    graph.names = {"operation"};
    graph.groups = std::move(groups);
    for (RankGraph& rank : ranks)
        graph.ranks.push_back(std::make_shared<RankGraph>(std::move(rank)));
    check(graph);
    return graph;
}

/// Two communicators on two streams, of which one rank uses one first and the other the other.
ExecutionGraph two_groups_the_other_way_round() {
    std::vector<RankGraph> ranks;
    for (const std::uint32_t first : {0U, 1U}) {
        RankBuilder rank;
        const std::uint32_t kernel = rank.kernel({});
        rank.collective(first, 0, {kernel});
        rank.kernel({});
        rank.collective(1 - first, 0, {kernel});
        rank.kernel({});
        ranks.push_back(rank.graph);
    }
    return graph_of(std::move(ranks), {{"a", {0, 1}}, {"b", {0, 1}}});
}

TEST(CommonOrder, TwoGroupsThatRanksUseTheOtherWayRound) {
    const ExecutionGraph graph = two_groups_the_other_way_round();
    ASSERT_TRUE(runs_through(graph));
    EXPECT_FALSE(runs_through(alone(graph))) << "nothing to mend";
    const ExecutionGraph serial = without_overlap(graph);
    check(serial);
    EXPECT_TRUE(runs_through(serial));
    EXPECT_TRUE(same_order_on_all(serial));
}

TEST(CommonOrder, RanksThatShareAGraphGoOnSharing) {
    ExecutionGraph graph = two_groups_the_other_way_round();
    for (Group& group : graph.groups)
        group.ranks = {0, 1, 2, 3};
    graph.ranks = {graph.ranks[0], graph.ranks[1], graph.ranks[1], graph.ranks[0]};
    const ExecutionGraph serial = without_overlap(graph);
    EXPECT_TRUE(runs_through(serial));
    EXPECT_EQ(serial.ranks[0], serial.ranks[3]);
    EXPECT_EQ(serial.ranks[1], serial.ranks[2]);
    EXPECT_NE(serial.ranks[0], serial.ranks[1]);
}

/// Rank 0 needs a message of rank 1 before the collective of both; rank 1 launches that collective
/// first, and sends after a collective with rank 2.
TEST(CommonOrder, AMessageThatACollectiveWaitsForIsSentBefore) {
    RankBuilder zero;
    const std::uint32_t received = zero.receive(1, 0, {});
    zero.collective(0, 0, {zero.kernel({received})});
    RankBuilder one;
    one.collective(0, 0, {});
    const std::uint32_t other = one.collective(1, 0, {});
    one.send(0, 0, {one.kernel({other})});
    RankBuilder two;
    two.collective(1, 0, {});
    const ExecutionGraph graph =
        graph_of({zero.graph, one.graph, two.graph}, {{"a", {0, 1}}, {"b", {1, 2}}});
    ASSERT_TRUE(runs_through(graph));
    EXPECT_FALSE(runs_through(alone(graph))) << "nothing to mend";
    EXPECT_TRUE(runs_through(without_overlap(graph)));
}

TEST(CommonOrder, SendsBeforeReceivesOnOneStreamStayWhereTheyAre) {
    std::vector<RankGraph> ranks;
    for (const std::uint32_t peer : {1U, 0U}) {
        RankBuilder rank;
        rank.send(peer, 0, {});
        rank.receive(peer, 0, {});
        rank.collective(0, 0, {});
        ranks.push_back(rank.graph);
    }
    const ExecutionGraph graph = graph_of(std::move(ranks), {{"a", {0, 1}}});
    const ExecutionGraph serial = without_overlap(graph);
    for (std::size_t r = 0; r < 2; ++r)
        EXPECT_EQ(*serial.ranks[r], *alone(graph).ranks[r]);
}

TEST(CommonOrder, RanksThatWaitForEachOtherInAnyOrderAreTold) {
    std::vector<RankGraph> ranks;
    for (const std::uint32_t first : {0U, 1U}) {
        RankBuilder rank;
        rank.collective(1 - first, 0, {rank.collective(first, 0, {})});
        ranks.push_back(rank.graph);
    }
    const ExecutionGraph graph = graph_of(std::move(ranks), {{"a", {0, 1}}, {"b", {0, 1}}});
    try {
        static_cast<void>(without_overlap(graph));
        FAIL() << "an order was found";
    } catch (const NoCommonOrder& error) {
        EXPECT_NE(
            error.note().find(
                "all_reduce 0 of group a waits for rank 1, all_reduce 0 of group b waits for rank "
                "0"),
            std::string::npos)
            << error.note();
    }
}

TEST(CommonOrder, ACollectiveOfAFixedTimeWaitsForNobody) {
    std::vector<RankGraph> ranks;
    for (const std::uint32_t first : {0U, 1U}) {
        RankBuilder rank;
        rank.collective(1 - first, 0, {rank.collective(first, 0, {})});
        for (Operation& operation : rank.graph.operations)
            std::get<CollectiveOperation>(operation.body).given = microseconds(1);
        ranks.push_back(rank.graph);
    }
    const ExecutionGraph graph = graph_of(std::move(ranks), {{"a", {0, 1}}, {"b", {0, 1}}});
    const ExecutionGraph serial = without_overlap(graph);
    for (std::size_t r = 0; r < 2; ++r)
        EXPECT_EQ(*serial.ranks[r], *alone(graph).ranks[r]);
}

RC_GTEST_PROP(CommonOrderProperty, WhatRunsWithOverlapRunsWithout, ()) {
    const ExecutionGraph graph = test_data::random_ranks();
    check(graph);
    RC_ASSERT(runs_through(graph));
    const ExecutionGraph serial = without_overlap(graph);
    check(serial);
    RC_ASSERT(runs_through(serial));
    RC_ASSERT(same_order_on_all(serial));
    for (std::size_t r = 0; r < graph.ranks.size(); ++r)
        RC_ASSERT(serial.ranks[r]->operations.size() == graph.ranks[r]->operations.size());
}

RC_GTEST_PROP(CommonOrderProperty, OrdersThatAgreeStayAsTheyAre, ()) {
    const ExecutionGraph graph = test_data::random_ranks();
    RC_PRE(with_shared_waits(graph) == graph.ranks);
    const ExecutionGraph before = alone(graph);
    RC_PRE(runs_through(before));
    const ExecutionGraph serial = without_overlap(graph);
    for (std::size_t r = 0; r < graph.ranks.size(); ++r)
        RC_ASSERT(*serial.ranks[r] == *before.ranks[r]);
}

RC_GTEST_PROP(CommonOrderProperty, NoCollectiveRunsBesideGpuWork, ()) {
    const ExecutionGraph serial = without_overlap(test_data::random_ranks());
    for (const auto& rank : serial.ranks)
        RC_ASSERT(test_data::keeps_collectives_apart(*rank));
}

}  // namespace
}  // namespace switchfold::common_order_test
