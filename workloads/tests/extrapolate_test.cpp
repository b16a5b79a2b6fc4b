// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/extrapolate.h"

#include "core/error.h"

#include <gtest/gtest.h>

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

TEST(Extrapolate, ToAsManyAsThereAreChangesNothing) {
    ExecutionGraph graph = two_ranks();
    static_cast<void>(extrapolate(graph, 2));
    EXPECT_EQ(graph.groups, two_ranks().groups);
    EXPECT_EQ(graph.ranks.size(), 2U);
    EXPECT_THROW(static_cast<void>(extrapolate(graph, 3)), InternalError);
}

}  // namespace
}  // namespace switchfold::extrapolate_test
