// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/extrapolate.h"

#include "core/error.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace switchfold::extrapolate_test {
namespace {

/// Two ranks with an all-reduce over both, a collective of each rank with itself, and a message
/// from 0 to 1.
ExecutionGraph two_ranks() {
    ExecutionGraph graph;
    graph.names = {"x"};
    graph.groups = {{"world", {0, 1}}, {"zero", {0}}, {"one", {1}}};
    for (std::uint32_t r = 0; r < 2; ++r) {
        RankGraph rank;
        rank.streams = {{StreamKind::kGpu, "7", 0}};
        Operation operation;
        operation.body = CollectiveOperation{};
        rank.operations.push_back(operation);
        CollectiveOperation own;
        own.group = 1 + r;
        operation.body = own;
        rank.operations.push_back(operation);
        if (r == 0)
            operation.body = SendOperation{1, Bytes(8), 0};
        else
            operation.body = ReceiveOperation{0, Bytes(8), 0};
        rank.operations.push_back(operation);
        graph.ranks.push_back(std::make_shared<RankGraph>(rank));
    }
    return graph;
}

TEST(Extrapolate, WorldGrowsAndSmallerGroupsRepeat) {
    ExecutionGraph graph = two_ranks();
    const std::vector<std::string> assumptions = extrapolate(graph, 6).notes;
    check(graph);
    ASSERT_EQ(graph.ranks.size(), 6U);
    EXPECT_EQ(graph.groups[0].ranks, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
    for (std::uint32_t r = 0; r < 6; ++r) {
        const auto& operations = graph.ranks[r]->operations;
        EXPECT_EQ(std::get<CollectiveOperation>(operations[0].body).group, 0U);
        const std::uint32_t own = std::get<CollectiveOperation>(operations[1].body).group;
        EXPECT_EQ(graph.groups[own].ranks, std::vector<std::uint32_t>{r});
        if (r % 2 == 0)
            EXPECT_EQ(std::get<SendOperation>(operations[2].body).peer, r + 1);
        else
            EXPECT_EQ(std::get<ReceiveOperation>(operations[2].body).peer, r - 1);
    }
    ASSERT_EQ(assumptions.size(), 2U);
    EXPECT_NE(assumptions[0].find("from 2 ranks to 6"), std::string::npos);
    EXPECT_NE(assumptions[1].find("1 groups of all 2 ranks"), std::string::npos);
}

/// Eight ranks, each with a collective in each of these groups that holds it.
ExecutionGraph eight_ranks(const std::vector<std::vector<std::uint32_t>>& groups) {
    ExecutionGraph graph;
    graph.names = {"x"};
    for (const auto& ranks : groups)
        graph.groups.push_back({"", ranks});
    for (std::uint32_t r = 0; r < 8; ++r) {
        RankGraph rank;
        rank.streams = {{StreamKind::kGpu, "7", 0}};
        for (std::uint32_t g = 0; g < groups.size(); ++g)
            if (std::find(groups[g].begin(), groups[g].end(), r) != groups[g].end()) {
                CollectiveOperation collective;
                collective.group = g;
                Operation operation;
                operation.body = collective;
                rank.operations.push_back(operation);
            }
        graph.ranks.push_back(std::make_shared<RankGraph>(rank));
    }
    return graph;
}

TEST(Extrapolate, GroupsOfReplicasGrowThatReachToTheEndOfTheRun) {
    // Tensor parallelism in pairs, and their replicas.
    ExecutionGraph graph =
        eight_ranks({{0, 2, 4, 6}, {1, 3, 5, 7}, {0, 1}, {2, 3}, {4, 5}, {6, 7}});
    const Extrapolated done = extrapolate(graph, 16);
    check(graph);
    EXPECT_EQ(graph.groups[0].ranks, (std::vector<std::uint32_t>{0, 2, 4, 6, 8, 10, 12, 14}));
    EXPECT_EQ(graph.groups[1].ranks, (std::vector<std::uint32_t>{1, 3, 5, 7, 9, 11, 13, 15}));
    EXPECT_EQ(graph.groups[2].ranks, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(graph.groups.size(), 10U) << "pairs are repeated";
    for (const std::uint32_t r : {2U, 10U})
        EXPECT_EQ(std::get<CollectiveOperation>(graph.ranks[r]->operations[0].body).group, 0U);
    EXPECT_NE(done.notes[1].find("2 that reach to the end"), std::string::npos) << done.notes[1];
}

TEST(Extrapolate, BelowAPipelineReplicasReachToTheEndOfTheirStage) {
    ExecutionGraph graph = eight_ranks({{0, 1, 2, 3}, {4, 5, 6, 7}});
    for (std::uint32_t r = 0; r < 8; ++r) {
        auto rank = std::make_shared<RankGraph>(*graph.ranks[r]);
        Operation message;
        if (r < 4)
            message.body = SendOperation{r + 4, Bytes(8), 0};
        else
            message.body = ReceiveOperation{r - 4, Bytes(8), 0};
        rank->operations.push_back(message);
        graph.ranks[r] = rank;
    }
    static_cast<void>(extrapolate(graph, 16));
    check(graph);
    EXPECT_EQ(graph.groups[0].ranks, (std::vector<std::uint32_t>{0, 1, 2, 3, 8, 9, 10, 11}));
    EXPECT_EQ(graph.groups[1].ranks, (std::vector<std::uint32_t>{4, 5, 6, 7, 12, 13, 14, 15}));
    EXPECT_EQ(std::get<SendOperation>(graph.ranks[9]->operations[1].body).peer, 13U);
}

TEST(Extrapolate, ToAsManyAsThereAreChangesNothing) {
    ExecutionGraph graph = two_ranks();
    static_cast<void>(extrapolate(graph, 2));
    EXPECT_EQ(graph.groups, two_ranks().groups);
    EXPECT_EQ(graph.ranks.size(), 2U);
    EXPECT_THROW(static_cast<void>(extrapolate(graph, 3)), InternalError);
}

}  // namespace
}  // namespace switchfold::extrapolate_test
