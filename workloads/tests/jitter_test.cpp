// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/jitter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

namespace switchfold::jitter_test {
namespace {

/// Ranks of kernels of 1 ms, the last operation of each a collective.
ExecutionGraph alike(std::size_t ranks, std::size_t kernels) {
    auto rank = std::make_shared<RankGraph>();
    rank->streams = {{StreamKind::kGpu, "0", 0}};
    KernelOperation kernel;
    kernel.isolated = microseconds(1000);
    for (std::size_t i = 0; i < kernels; ++i) {
        Operation operation;
        operation.body = kernel;
        rank->operations.push_back(operation);
    }
    Operation last;
    last.body = CollectiveOperation{};
    rank->operations.push_back(last);
    ExecutionGraph graph;
    graph.names = {"kernel"};
    graph.ranks.assign(ranks, rank);
    return graph;
}

std::vector<double> times(const ExecutionGraph& graph, std::size_t operation) {
    std::vector<double> all;
    for (const auto& rank : graph.ranks)
        all.push_back(
            to_seconds(std::get<KernelOperation>(rank->operations[operation].body).isolated));
    return all;
}

double mean(const std::vector<double>& all) {
    double sum = 0;
    for (const double one : all)
        sum += one;
    return sum / static_cast<double>(all.size());
}

double deviation(const std::vector<double>& all) {
    double sum = 0;
    for (const double one : all)
        sum += (one - mean(all)) * (one - mean(all));
    return std::sqrt(sum / static_cast<double>(all.size()));
}

TEST(Jitter, WithoutItRanksStayOne) {
    ExecutionGraph graph = alike(4, 2);
    vary(graph, {}, 1);
    EXPECT_EQ(graph.ranks[0], graph.ranks[3]);
}

TEST(Jitter, AGpuKeepsItsSpeedAndGpusHaveTheStatedDeviation) {
    ExecutionGraph graph = alike(4000, 2);
    vary(graph, {0.02, 0, Time()}, 7);
    EXPECT_EQ(times(graph, 0), times(graph, 1));
    EXPECT_NEAR(mean(times(graph, 0)) / 1e-3, 1, 0.001);
    EXPECT_NEAR(deviation(times(graph, 0)) / 1e-3, 0.02, 0.001);
}

TEST(Jitter, KernelsOfAGpuDiffer) {
    ExecutionGraph graph = alike(2000, 2);
    vary(graph, {0, 0.01, Time()}, 7);
    EXPECT_NE(times(graph, 0), times(graph, 1));
    EXPECT_NEAR(deviation(times(graph, 0)) / 1e-3, 0.01, 0.001);
}

TEST(Jitter, SeedAndRankDecideAlone) {
    ExecutionGraph few = alike(3, 2);
    ExecutionGraph many = alike(9, 2);
    ExecutionGraph other = alike(3, 2);
    const Jitter jitter{0.02, 0.01, microseconds(5)};
    vary(few, jitter, 1);
    vary(many, jitter, 1);
    vary(other, jitter, 2);
    for (std::size_t rank = 0; rank < 3; ++rank) {
        EXPECT_EQ(times(few, 0)[rank], times(many, 0)[rank]);
        EXPECT_EQ(few.ranks[rank]->operations.back().gap, many.ranks[rank]->operations.back().gap);
    }
    EXPECT_NE(times(few, 0), times(other, 0));
}

// The expected largest of n: of exponentials of mean 1 the n-th harmonic number; of 100 normal
// draws 2.508 deviations.
TEST(Jitter, ARankThatStandsForOthersIsAsSlowAsTheSlowest) {
    ExecutionGraph graph = alike(4000, 1);
    vary(graph, {0.01, 0, microseconds(10)}, 3, 100);
    EXPECT_NEAR(mean(times(graph, 0)) / 1e-3, 1.02508, 0.0003);
    double harmonic = 0;
    for (int i = 1; i <= 100; ++i)
        harmonic += 1.0 / i;
    double gaps = 0;
    for (const auto& rank : graph.ranks)
        gaps += to_microseconds(rank->operations.back().gap);
    EXPECT_NEAR(gaps / 4000 / 10, harmonic, 0.1);
}

TEST(Jitter, NoKernelTakesLessThanHalf) {
    ExecutionGraph graph = alike(4000, 1);
    vary(graph, {0.3, 0, Time()}, 3);
    const std::vector<double> all = times(graph, 0);
    EXPECT_EQ(*std::min_element(all.begin(), all.end()), 0.5e-3);
}

}  // namespace
}  // namespace switchfold::jitter_test
