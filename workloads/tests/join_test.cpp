// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/join.h"

#include "core/error.h"
#include "workloads/tests/random_graph.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <variant>

namespace switchfold::join_test {
namespace {

Operation kernel_on(std::uint32_t stream, std::vector<std::uint32_t> dependencies = {}) {
    Operation operation;
    operation.stream = stream;
    operation.dependencies = dependencies;
    operation.body = KernelOperation{};
    return operation;
}

/// Two ranks with a kernel, then an all-reduce on another stream, and a message from 0 to 1.
ExecutionGraph two_ranks(const std::string& name) {
    ExecutionGraph graph;
    graph.names = {name};
    graph.groups = {{name + " world", {0, 1}}};
    for (std::uint32_t r = 0; r < 2; ++r) {
        RankGraph rank;
        rank.streams = {{StreamKind::kGpu, "7", 0}, {StreamKind::kGpu, "8", 0}};
        rank.operations.push_back(kernel_on(0));
        Operation operation = kernel_on(1, {0});
        operation.body = CollectiveOperation{};
        rank.operations.push_back(operation);
        operation.dependencies = {1};
        if (r == 0)
            operation.body = SendOperation{1, Bytes(8), 0};
        else
            operation.body = ReceiveOperation{0, Bytes(8), 0};
        rank.operations.push_back(operation);
        rank.spans.push_back({0, 0, 2, 0, Phase::kForward});
        rank.memory.push_back({2, true, MemoryClass::kActivations, 5});
        graph.ranks.push_back(std::make_shared<RankGraph>(rank));
    }
    return graph;
}

TEST(Join, PlacingMovesGroupsAndPeers) {
    const ExecutionGraph placed = place_on(two_ranks("a"), std::vector<std::uint32_t>{2, 5});
    check(placed);
    ASSERT_EQ(placed.ranks.size(), 6U);
    EXPECT_EQ(ranks_at_work(placed), 2U);
    EXPECT_EQ(placed.groups[0].ranks, (std::vector<std::uint32_t>{2, 5}));
    EXPECT_EQ(std::get<SendOperation>(placed.ranks[2]->operations[2].body).peer, 5U);
    EXPECT_EQ(std::get<ReceiveOperation>(placed.ranks[5]->operations[2].body).peer, 2U);
    EXPECT_THROW(
        static_cast<void>(place_on(two_ranks("a"), std::vector<std::uint32_t>{5, 2})),
        InternalError);
}

TEST(Join, RepetitionsFollowEachOther) {
    const ExecutionGraph three = repeat(two_ranks("a"), 3);
    check(three);
    EXPECT_EQ(three.steps, 3U);
    const RankGraph& rank = *three.ranks[0];
    ASSERT_EQ(rank.operations.size(), 9U);
    for (std::uint32_t i = 0; i < 9; ++i)
        EXPECT_EQ(rank.operations[i].step, i / 3);
    // The first operation on stream 0 waits for the message on stream 1, the last operation of the
    // previous repetition.
    EXPECT_EQ(rank.operations[3].dependencies, Dependencies({2}));
    EXPECT_EQ(rank.operations[6].dependencies, Dependencies({5}));
    // The all-reduce on stream 1 waits for its own kernel and for the kernel of the previous
    // repetition.
    EXPECT_EQ(rank.operations[4].dependencies, Dependencies({3, 0}));
    EXPECT_EQ(std::get<CollectiveOperation>(rank.operations[7].body).sequence, 2U);
    EXPECT_EQ(rank.spans[2].first, 6U);
    EXPECT_EQ(rank.memory[1].operation, 5U);
}

TEST(Join, WhatIsFirstBeginsLater) {
    ExecutionGraph graph = two_ranks("a");
    delay(graph, nanoseconds(7));
    EXPECT_EQ(graph.ranks[0]->operations[0].gap, nanoseconds(7));
    EXPECT_EQ(graph.ranks[0]->operations[1].gap, Time());
}

TEST(Join, PartsKeepTheJoinedTables) {
    const std::vector<ExecutionGraph> graphs{
        place_on(two_ranks("a"), std::vector<std::uint32_t>{0, 2}),
        repeat(place_on(two_ranks("b"), std::vector<std::uint32_t>{1, 3}), 2)};
    const ExecutionGraph whole = join(graphs);
    check(whole);
    EXPECT_EQ(ranks_at_work(whole), 4U);
    EXPECT_EQ(whole.names, (std::vector<std::string>{"a", "b"}));
    const ExecutionGraph part = part_of(whole, graphs[1]);
    check(part);
    EXPECT_EQ(part.steps, 2U);
    EXPECT_EQ(ranks_at_work(part), 2U);
    const Operation& reduced = part.ranks[3]->operations[1];
    EXPECT_EQ(part.groups[std::get<CollectiveOperation>(reduced.body).group].name, "b world");
    EXPECT_EQ(part.names[reduced.name], "b");
    EXPECT_THROW(
        static_cast<void>(join(std::vector<ExecutionGraph>{graphs[0], graphs[0]})), InternalError);
}

TEST(Join, FirstStepsOfARepetitionAreTheGraph) {
    const ExecutionGraph once = two_ranks("a");
    const ExecutionGraph cut = first_steps(repeat(once, 4), 1);
    EXPECT_EQ(*cut.ranks[0], *once.ranks[0]);
    EXPECT_EQ(cut.steps, 1U);
}

RC_GTEST_PROP(Join, RandomRepetitionsAreLegalAndOneTimeChangesNothing, ()) {
    ExecutionGraph graph = test_data::graph_of(test_data::random_rank());
    const RankGraph& rank = *graph.ranks[0];
    graph.steps = rank.operations.empty() ? 1 : rank.operations.back().step + 1;
    RC_ASSERT(*repeat(graph, 1).ranks[0] == rank);
    const auto times = *rc::gen::inRange<std::uint32_t>(2, 5);
    const ExecutionGraph many = repeat(graph, times);
    check(many);
    RC_ASSERT(many.ranks[0]->operations.size() == times * rank.operations.size());
    RC_ASSERT(*first_steps(many, graph.steps).ranks[0] == rank);
}

}  // namespace
}  // namespace switchfold::join_test
