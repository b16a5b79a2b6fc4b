// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/slow_ranks.h"

#include <gtest/gtest.h>

#include <memory>
#include <variant>

namespace switchfold::slow_ranks_test {
namespace {

/// Two steps on two streams. Each step has a kernel, one on the other stream next to it, and one
/// that waits for both.
ExecutionGraph two_steps() {
    auto rank = std::make_shared<RankGraph>();
    rank->streams = {{StreamKind::kGpu, "0", 0}, {StreamKind::kGpu, "1", 0}};
    for (std::uint32_t step = 0; step < 2; ++step) {
        const std::uint32_t first = step * 3;
        KernelOperation kernel;
        kernel.isolated = microseconds(10);
        Operation operation;
        operation.step = step;
        operation.body = kernel;
        operation.gap = microseconds(1);
        if (step > 0)
            operation.dependencies = {first - 1};
        rank->operations.push_back(operation);
        operation.stream = 1;
        operation.dependencies = {};
        rank->operations.push_back(operation);
        operation.dependencies = {first};
        rank->operations.push_back(operation);
    }
    ExecutionGraph graph;
    graph.names = {"kernel"};
    graph.ranks = {rank, rank, rank};
    graph.steps = 2;
    return graph;
}

Time isolated(const ExecutionGraph& graph, std::size_t rank, std::size_t operation) {
    return std::get<KernelOperation>(graph.ranks[rank]->operations[operation].body).isolated;
}

TEST(SlowRanks, KernelsOfTheRankAloneAreStretched) {
    ExecutionGraph graph = two_steps();
    slow_down(graph, {{1, 1.25, Time()}});
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(isolated(graph, 0, i), microseconds(10));
        EXPECT_EQ(isolated(graph, 1, i), nanoseconds(12'500));
        EXPECT_EQ(graph.ranks[1]->operations[i].gap, microseconds(1));
    }
    EXPECT_EQ(graph.ranks[0], graph.ranks[2]);
    check(graph);
}

TEST(SlowRanks, EveryStepBeginsLater) {
    ExecutionGraph graph = two_steps();
    slow_down(graph, {{2, 1, microseconds(3)}});
    const RankGraph& rank = *graph.ranks[2];
    for (const std::size_t begins : {0, 1, 3, 4})
        EXPECT_EQ(rank.operations[begins].gap, microseconds(4)) << begins;
    for (const std::size_t follows : {2, 5})
        EXPECT_EQ(rank.operations[follows].gap, microseconds(1)) << follows;
    EXPECT_EQ(isolated(graph, 2, 0), microseconds(10));
    EXPECT_EQ(*graph.ranks[0], *two_steps().ranks[0]);
}

TEST(SlowRanks, OneThatIsAsFastAsTheOthersIsAsBefore) {
    ExecutionGraph graph = two_steps();
    slow_down(graph, {{0, 1, Time()}});
    EXPECT_EQ(*graph.ranks[0], *two_steps().ranks[0]);
}

}  // namespace
}  // namespace switchfold::slow_ranks_test
