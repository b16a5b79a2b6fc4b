// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/loops.h"

#include <gtest/gtest.h>

#include <variant>

namespace switchfold::loops_test {
namespace {

Loops loops(std::uint32_t kernels, std::uint32_t collectives) {
    Loops all;
    KernelOperation kernel;
    kernel.grid = {100, 1, 1};
    kernel.isolated = microseconds(10);
    all.kernel.assign(4, kernel);
    all.collective.bytes = kibibytes(1);
    all.kernel_name = "kernel";
    all.collective_name = "collective";
    all.kernels = kernels;
    all.collectives = collectives;
    return all;
}

TEST(Loops, EachIsOnAStreamOfItsOwnAndWaitsForNothing) {
    const ExecutionGraph graph = loops_graph(loops(2, 3));
    check(graph);
    ASSERT_EQ(graph.ranks.size(), 4U);
    std::uint32_t kernels = 0;
    std::uint32_t collectives = 0;
    for (const Operation& operation : graph.ranks.front()->operations) {
        EXPECT_TRUE(operation.dependencies.empty());
        if (const auto* collective = std::get_if<CollectiveOperation>(&operation.body)) {
            EXPECT_EQ(operation.stream, 1U);
            EXPECT_EQ(collective->sequence, collectives++);
        } else {
            EXPECT_EQ(operation.stream, 0U);
            ++kernels;
        }
    }
    EXPECT_EQ(kernels, 2U);
    EXPECT_EQ(collectives, 3U);
    // The collective is launched first.
    EXPECT_EQ(graph.ranks.front()->operations.front().stream, 1U);
}

TEST(Loops, RanksShareAGraphUnlessTheirKernelsDiffer) {
    Loops unequal = loops(1, 1);
    unequal.kernel[2].isolated = microseconds(20);
    const ExecutionGraph graph = loops_graph(unequal);
    EXPECT_EQ(graph.ranks[0], graph.ranks[3]);
    EXPECT_NE(graph.ranks[0], graph.ranks[2]);
    EXPECT_EQ(
        std::get<KernelOperation>(graph.ranks[2]->operations.back().body).isolated,
        microseconds(20));
}

}  // namespace
}  // namespace switchfold::loops_test
