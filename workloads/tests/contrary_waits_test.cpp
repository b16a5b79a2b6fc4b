// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/contrary_waits.h"

#include <gtest/gtest.h>

#include <memory>

namespace switchfold::contrary_waits_test {
namespace {

/// Two collectives of two groups on streams of their own, of which the second waits for the first.
std::shared_ptr<const RankGraph> rank_of(std::uint32_t first, std::uint32_t second) {
    auto rank = std::make_shared<RankGraph>();
    rank->streams = {
        {StreamKind::kGpu, "7", 0}, {StreamKind::kGpu, "20", 0}, {StreamKind::kGpu, "24", 0}};
    Operation kernel;
    kernel.body = KernelOperation{};
    rank->operations.push_back(kernel);
    for (const std::uint32_t group : {first, second}) {
        Operation operation;
        operation.stream = 1 + group;
        CollectiveOperation collective;
        collective.group = group;
        operation.body = collective;
        operation.dependencies.push_back(0);
        if (group == second)
            operation.dependencies.push_back(1);
        rank->operations.push_back(operation);
    }
    return rank;
}

ExecutionGraph ranks(std::shared_ptr<const RankGraph> a, std::shared_ptr<const RankGraph> b) {
    ExecutionGraph graph;
    graph.names = {"x"};
    graph.groups = {{"gradients", {0, 1}}, {"norm", {0, 1}}};
    graph.ranks = {std::move(a), std::move(b)};
    return graph;
}

TEST(ContraryWaits, NeitherRankWaitsWhereTheOtherShowsTheContrary) {
    ExecutionGraph graph = ranks(rank_of(0, 1), rank_of(1, 0));
    EXPECT_EQ(drop_contrary_waits(graph), 2U);
    for (const auto& rank : graph.ranks) {
        const auto& kept = rank->operations[2].dependencies;
        ASSERT_EQ(kept.size(), 1U);
        EXPECT_EQ(*kept.begin(), 0U) << "the kernel";
    }
}

TEST(ContraryWaits, RanksThatAgreeKeepTheirGraphs) {
    ExecutionGraph graph = ranks(rank_of(0, 1), rank_of(0, 1));
    const auto before = graph.ranks;
    EXPECT_EQ(drop_contrary_waits(graph), 0U);
    EXPECT_EQ(graph.ranks, before);
}

}  // namespace
}  // namespace switchfold::contrary_waits_test
