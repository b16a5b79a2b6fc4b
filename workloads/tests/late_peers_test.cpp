// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/late_peers.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace switchfold::late_peers_test {
namespace {

TEST(Lateness, IsWhatAResidenceLastsBeyondTheTransfer) {
    const TransferTime ring{microseconds(200), microseconds(200)};
    EXPECT_EQ(lateness(microseconds(2500), ring), microseconds(2300));
}

TEST(Lateness, IsZeroWhereTheTransferExplainsTheResidence) {
    const TransferTime ring{microseconds(200), microseconds(200)};
    EXPECT_EQ(lateness(microseconds(200), ring), Time());
    EXPECT_EQ(lateness(microseconds(150), ring), Time());
}

TEST(Lateness, OfAnExchangeLeavesWhatFollowsTheLastRank) {
    // An exchange with seven peers. The last peer's part takes 30 us once that peer has arrived.
    const TransferTime exchange{microseconds(140), microseconds(30)};
    EXPECT_EQ(lateness(microseconds(1000), exchange), microseconds(970));
    EXPECT_EQ(lateness(microseconds(140), exchange), Time());
}

RC_GTEST_PROP(Lateness, AndTheRestMakeUpTheResidence, ()) {
    const Time whole(*rc::gen::inRange<std::uint64_t>(1, 1'000'000));
    const Time after(*rc::gen::inRange<std::uint64_t>(1, whole.count() + 1));
    const Time residence(*rc::gen::inRange<std::uint64_t>(0, 3'000'000));
    const Time late = lateness(residence, {whole, after});
    RC_ASSERT(late == Time() || late + after == residence);
    RC_ASSERT((late == Time()) == (residence <= whole));
}

/// Two ranks that share one graph: an all-reduce that took 500 us, one that took 90 us, one
/// without a time, and one in a group of one rank.
ExecutionGraph shared_by_two() {
    auto rank = std::make_shared<RankGraph>();
    rank->streams = {{StreamKind::kGpu, "20", 0}};
    const auto add = [&](std::uint32_t group, Time measured) {
        CollectiveOperation collective;
        collective.bytes = mebibytes(1);
        collective.group = group;
        collective.sequence = rank->operations.size();
        collective.measured = measured;
        Operation operation;
        operation.body = collective;
        rank->operations.push_back(std::move(operation));
    };
    add(0, microseconds(500));
    add(0, microseconds(90));
    add(0, Time());
    add(1, microseconds(500));
    ExecutionGraph graph;
    graph.names = {"all_reduce"};
    graph.groups = {{"world", {0, 1}}, {"alone", {0}}};
    graph.ranks = {rank, rank};
    return graph;
}

Time late_of(const ExecutionGraph& graph, std::size_t operation) {
    return std::get<CollectiveOperation>(graph.ranks.front()->operations[operation].body)
        .peers_late;
}

TEST(LatePeers, ComeAsLateAsTheTracedRankSaw) {
    ExecutionGraph graph = shared_by_two();
    const LatePeers found = set_peers_late(graph, [](const auto&, const Group& group) {
        EXPECT_EQ(group.name, "world");
        return TransferTime{microseconds(100), microseconds(100)};
    });
    EXPECT_EQ(late_of(graph, 0), microseconds(400));
    EXPECT_EQ(late_of(graph, 1), Time());  // the traced rank was the late one
    EXPECT_EQ(late_of(graph, 2), Time());
    EXPECT_EQ(late_of(graph, 3), Time());
    EXPECT_EQ(found.collectives, 2U);
    EXPECT_EQ(found.waited, 1U);
    EXPECT_EQ(found.waiting, microseconds(400));
}

TEST(LatePeers, RanksThatSharedAGraphStillDo) {
    ExecutionGraph graph = shared_by_two();
    const auto before = graph.ranks.front();
    set_peers_late(graph, [](const auto&, const Group&) { return TransferTime{}; });
    EXPECT_EQ(graph.ranks[0], graph.ranks[1]);
    EXPECT_EQ(std::get<CollectiveOperation>(before->operations[0].body).peers_late, Time());
}

TEST(LatePeers, WhatTheTraceStatesStays) {
    ExecutionGraph graph = shared_by_two();
    auto stated = std::make_shared<RankGraph>(*graph.ranks.front());
    std::get<CollectiveOperation>(stated->operations[0].body).peers_late = microseconds(7);
    graph.ranks = {stated, stated};
    set_peers_late(graph, [](const auto&, const Group&) {
        return TransferTime{microseconds(100), microseconds(100)};
    });
    EXPECT_EQ(late_of(graph, 0), microseconds(7));
}

TEST(LatePeers, AResidenceIsATimeOfACollective) {
    ExecutionGraph graph = shared_by_two();
    EXPECT_TRUE(has_residences(*graph.ranks.front()));
    RankGraph without = *graph.ranks.front();
    for (Operation& operation : without.operations)
        std::get<CollectiveOperation>(operation.body).measured = Time();
    EXPECT_FALSE(has_residences(without));
}

}  // namespace
}  // namespace switchfold::late_peers_test
