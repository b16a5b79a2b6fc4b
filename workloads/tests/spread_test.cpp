// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/spread.h"

#include "workloads/graph/order_check.h"
#include "workloads/profile/whole_run.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace switchfold::spread_test {
namespace {

Time ten(std::size_t /*operation*/) {
    return microseconds(10);
}

/// One traced rank whose operations run on one stream.
ExecutionGraph one_rank(std::vector<Group> groups, const std::vector<OperationBody>& bodies) {
    ExecutionGraph graph;
    graph.names = {"x"};
    graph.groups = std::move(groups);
    RankGraph rank;
    rank.streams = {{StreamKind::kGpu, "7", 0}};
    std::vector<std::uint64_t> sequences(graph.groups.size(), 0);
    for (const OperationBody& body : bodies) {
        Operation operation;
        operation.body = body;
        if (auto* c = std::get_if<CollectiveOperation>(&operation.body))
            c->sequence = sequences[c->group]++;
        rank.operations.push_back(operation);
    }
    graph.ranks = {std::make_shared<RankGraph>(rank)};
    return graph;
}

CollectiveOperation all_reduce(std::uint32_t group) {
    CollectiveOperation c;
    c.group = group;
    c.bytes = Bytes(1024);
    return c;
}

const Group& group_of(const ExecutionGraph& graph, std::uint32_t rank, std::size_t operation) {
    return graph
        .groups[std::get<CollectiveOperation>(graph.ranks[rank]->operations[operation].body).group];
}

TEST(Spread, EachGroupRepeatsByItsOwnStrides) {
    ExecutionGraph graph = one_rank(
        {{"tensor", {0, 1}}, {"data", {0, 2, 4, 6}}, {"all", {0, 1, 2, 3, 4, 5, 6, 7}}},
        {all_reduce(0), all_reduce(1), all_reduce(2)});
    const Spread spread = spread_over_ranks(graph, 0, 8, 8, ten);
    EXPECT_TRUE(spread.problems.empty());
    EXPECT_EQ(spread.notes.size(), 1U) << "how the groups were laid out";
    check(graph);
    EXPECT_EQ(group_of(graph, 5, 0).ranks, (std::vector<std::uint32_t>{4, 5}));
    EXPECT_EQ(group_of(graph, 5, 1).ranks, (std::vector<std::uint32_t>{1, 3, 5, 7}));
    EXPECT_EQ(group_of(graph, 5, 2).ranks.size(), 8U);
    EXPECT_TRUE(why_it_cannot_end(graph).empty());
}

TEST(Spread, RanksOfTheSamePlaceShareTheirOperations) {
    ExecutionGraph graph = one_rank({{"node", {0, 1, 2, 3}}}, {all_reduce(0)});
    static_cast<void>(spread_over_ranks(graph, 1, 8, 8, ten));
    EXPECT_EQ(graph.ranks[0], graph.ranks[3]);
    EXPECT_NE(graph.ranks[3], graph.ranks[4]);
}

TEST(Spread, AGroupWithoutALayoutIsRefusedAndShown) {
    ExecutionGraph graph = one_rank({{"embedding", {0, 6}}}, {all_reduce(0)});
    const Spread spread = spread_over_ranks(graph, 0, 8, 8, ten);
    ASSERT_EQ(spread.problems.size(), 1U);
    EXPECT_NE(spread.problems[0].find("embedding [0, 6]"), std::string::npos) << spread.problems[0];
    EXPECT_EQ(graph.ranks.size(), 1U) << "unchanged";
}

TEST(Spread, ALoneRankIsEachGroup) {
    ExecutionGraph graph = one_rank({{"tensor", {0, 1}}, {"odd", {0, 6}}}, {all_reduce(0)});
    EXPECT_TRUE(spread_over_ranks(graph, 0, 8, 1, ten).problems.empty());
    EXPECT_EQ(group_of(graph, 0, 0).ranks, std::vector<std::uint32_t>{0});
}

TEST(Spread, AnotherNumberOfRanksChangesTheOuterGroupsAlone) {
    ExecutionGraph graph =
        one_rank({{"tensor", {0, 1}}, {"data", {0, 2, 4, 6}}}, {all_reduce(0), all_reduce(1)});
    const Spread spread = spread_over_ranks(graph, 0, 8, 4, ten);
    EXPECT_TRUE(spread.problems.empty());
    EXPECT_EQ(graph.ranks.size(), 4U);
    EXPECT_EQ(group_of(graph, 3, 0).ranks, (std::vector<std::uint32_t>{2, 3}));
    EXPECT_EQ(group_of(graph, 3, 1).ranks, (std::vector<std::uint32_t>{1, 3}));
    EXPECT_EQ(spread.notes.size(), 2U);
}

TEST(Spread, AStageInTheMiddleSendsOnAndReceivesFromBehind) {
    ExecutionGraph graph = one_rank(
        {{"pipeline", {1, 3, 5, 7}}},
        {ReceiveOperation{1, Bytes(64), 5}, SendOperation{5, Bytes(64), 5}});
    // Both at once, as a batch: a ring of stages would wait for itself otherwise.
    auto rank = std::make_shared<RankGraph>(*graph.ranks[0]);
    rank->streams.push_back({StreamKind::kGpu, "7 beside 1", 0});
    rank->operations[1].stream = 1;
    graph.ranks[0] = rank;
    const Spread spread = spread_over_ranks(graph, 3, 8, 8, ten);
    EXPECT_TRUE(spread.problems.empty());
    EXPECT_EQ(std::get<SendOperation>(graph.ranks[6]->operations[1].body).peer, 0U);
    EXPECT_EQ(std::get<ReceiveOperation>(graph.ranks[6]->operations[0].body).peer, 4U);
    EXPECT_TRUE(why_it_cannot_end(graph).empty());
}

TEST(Spread, MessagesOfAStageThatWouldWaitForItselfAreHeld) {
    TraceWorkload trace;
    trace.graph = one_rank(
        {{"pipeline", {0, 1, 2, 3}}},
        {ReceiveOperation{0, Bytes(64), 5}, SendOperation{2, Bytes(64), 5}});
    trace.files.emplace_back();
    trace.files[0].rank = 1;
    trace.files[0].world_size = 4;
    trace.measured.emplace_back();
    for (int i = 0; i < 2; ++i)
        trace.measured[0].push_back({microseconds(20 * i), microseconds(20 * i + 10)});
    const WholeRun run = complete_run(trace, 4, true);
    EXPECT_TRUE(run.problems.empty());
    ASSERT_EQ(run.notes.size(), 1U);
    EXPECT_NE(run.notes[0].find("2 of 2 sends and receives"), std::string::npos) << run.notes[0];
    EXPECT_NE(run.notes[0].find("stage of a pipeline"), std::string::npos) << run.notes[0];
    const Impossible impossible = impossible_runs(trace.graph);
    EXPECT_TRUE(impossible.overlapped.empty());
    EXPECT_TRUE(impossible.serial.empty());
    const auto& held = std::get<CollectiveOperation>(trace.graph.ranks[3]->operations[1].body);
    EXPECT_EQ(held.given, microseconds(10));
}

TEST(Spread, AMessageThatNobodyMatchesTakesItsTracedTime) {
    ExecutionGraph graph = one_rank({{"pipeline", {0, 1}}}, {SendOperation{1, Bytes(64), 5}});
    const Spread spread = spread_over_ranks(graph, 0, 2, 2, ten);
    const auto& held = std::get<CollectiveOperation>(graph.ranks[1]->operations[0].body);
    EXPECT_TRUE(held.holds_blocks);
    EXPECT_EQ(held.given, microseconds(10));
    EXPECT_TRUE(why_it_cannot_end(graph).empty());
    ASSERT_EQ(spread.notes.size(), 1U);
    EXPECT_NE(spread.notes[0].find("1 of 1 sends and receives"), std::string::npos);
}

TEST(Spread, UnevenPartsMoveRoundWithTheRank) {
    CollectiveOperation exchange;
    exchange.kind = CollectiveKind::kAllToAll;
    exchange.bytes = Bytes(60);
    exchange.exchange = 1;
    ExecutionGraph graph = one_rank({{"experts", {0, 1, 2}}}, {exchange});
    graph.exchanges = {UnevenExchange::of(3)};
    for (std::uint32_t to = 0; to < 3; ++to)
        graph.exchanges[0].at(0, to) = 10 * (to + 1);
    static_cast<void>(spread_over_ranks(graph, 0, 3, 3, ten));
    EXPECT_EQ(graph.exchanges[0].at(1, 1), 10U);
    EXPECT_EQ(graph.exchanges[0].at(1, 2), 20U);
    EXPECT_EQ(graph.exchanges[0].at(1, 0), 30U);
}

/// One rank of a grid of tensor, data and pipeline parallelism: every rank ends in the groups that
/// the grid gives it, and the run ends.
RC_GTEST_PROP(SpreadProperty, OneRankOfAGridGivesTheGrid, ()) {
    const auto tensor = *rc::gen::inRange<std::uint32_t>(1, 5);
    const auto data = *rc::gen::inRange<std::uint32_t>(1, 5);
    const auto pipeline = *rc::gen::inRange<std::uint32_t>(1, 4);
    const std::uint32_t world = tensor * data * pipeline;
    const auto rank = *rc::gen::inRange<std::uint32_t>(0, world);
    const auto groups_of = [&](std::uint32_t r) {
        std::vector<Group> groups{{"tensor", {}}, {"data", {}}, {"pipeline", {}}};
        for (std::uint32_t other = 0; other < world; ++other) {
            const bool t = r % tensor == other % tensor;
            const bool d = r / tensor % data == other / tensor % data;
            const bool p = r / tensor / data == other / tensor / data;
            if (d && p)
                groups[0].ranks.push_back(other);
            if (t && p)
                groups[1].ranks.push_back(other);
            if (t && d)
                groups[2].ranks.push_back(other);
        }
        return groups;
    };
    ExecutionGraph graph =
        one_rank(groups_of(rank), {all_reduce(0), all_reduce(1), all_reduce(2), all_reduce(0)});
    const Spread spread = spread_over_ranks(graph, rank, world, world, ten);
    RC_ASSERT(spread.problems.empty());
    for (std::uint32_t r = 0; r < world; ++r) {
        const std::vector<Group> expected = groups_of(r);
        for (std::size_t g = 0; g < 3; ++g)
            // A group of the traced rank alone stands for nobody else's: it becomes one of all.
            if (expected[g].ranks.size() > 1)
                RC_ASSERT(group_of(graph, r, g).ranks == expected[g].ranks);
    }
    RC_ASSERT(why_it_cannot_end(graph).empty());
}

}  // namespace
}  // namespace switchfold::spread_test
