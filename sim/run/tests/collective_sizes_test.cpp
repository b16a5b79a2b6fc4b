// SPDX-License-Identifier: Apache-2.0
#include "sim/run/workload/collective_sizes.h"

#include "sim/run/config/load.h"
#include "sim/run/machine/beside.h"
#include "sim/run/machine/simulate.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>

namespace switchfold::collective_sizes_test {
namespace {

SystemParams hgx_h100() {
    return load_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/hgx_h100.json", {});
}

Operation all_reduce(std::uint64_t sequence, std::uint32_t step, Bytes bytes, Time measured) {
    Operation operation;
    operation.step = step;
    CollectiveOperation collective;
    collective.kind = CollectiveKind::kAllReduce;
    collective.bytes = bytes;
    collective.sequence = sequence;
    collective.measured = measured;
    operation.body = collective;
    return operation;
}

ExecutionGraph graph_of(std::vector<Operation> operations) {
    ExecutionGraph graph;
    graph.names = {"all_reduce"};
    graph.groups = {{"world", {0, 1, 2, 3, 4, 5, 6, 7}}};
    auto rank = std::make_shared<RankGraph>();
    rank->streams = {{StreamKind::kGpu, "7", 0}};
    for (const Operation& operation : operations)
        rank->operations.push_back(operation);
    graph.ranks.assign(8, rank);
    graph.steps = operations.back().step + 1;
    return graph;
}

std::uint32_t estimate(const SystemParams& system, ExecutionGraph& graph) {
    return estimate_collective_sizes(system, graph, {}, run_jobs_quietly);
}

const CollectiveOperation& at(const ExecutionGraph& graph, std::size_t rank, std::size_t index) {
    return std::get<CollectiveOperation>(graph.ranks[rank]->operations[index].body);
}

TEST(CollectiveSizes, KnownSizesStay) {
    ExecutionGraph graph = graph_of({all_reduce(0, 0, Bytes(4096), microseconds(900))});
    const auto before = graph.ranks;
    EXPECT_EQ(estimate(hgx_h100(), graph), 0U);
    EXPECT_EQ(graph.ranks, before);
}

TEST(CollectiveSizes, TheShortestOccurrenceOverTheStepsCounts) {
    const SystemParams system = hgx_h100();
    ExecutionGraph graph = graph_of(
        {all_reduce(0, 0, Bytes(), microseconds(5000)),
         all_reduce(1, 0, Bytes(), microseconds(300)),
         all_reduce(2, 1, Bytes(), microseconds(1000)),
         all_reduce(3, 1, Bytes(), microseconds(400))});
    // Ranks that share a graph keep sharing it, and its collectives count once.
    EXPECT_EQ(estimate(system, graph), 4U);
    EXPECT_EQ(graph.ranks[0], graph.ranks[7]);
    EXPECT_EQ(at(graph, 0, 0).bytes, at(graph, 0, 2).bytes);
    EXPECT_EQ(at(graph, 0, 1).bytes, at(graph, 0, 3).bytes);
    EXPECT_GT(at(graph, 0, 0).bytes, at(graph, 0, 1).bytes);
    ExecutionGraph shortest = graph_of({all_reduce(0, 0, Bytes(), microseconds(1000))});
    EXPECT_EQ(estimate(system, shortest), 1U);
    EXPECT_EQ(at(graph, 0, 0).bytes, at(shortest, 0, 0).bytes);
}

/// The estimated size is the one for which NCCL's model predicts the measured time; the simulated
/// time is close to it.
TEST(CollectiveSizes, ARunOfTheEstimatedSizeTakesAboutTheMeasuredTime) {
    const SystemParams system = hgx_h100();
    for (const std::uint64_t us : {500ULL, 2000ULL}) {
        ExecutionGraph graph = graph_of({all_reduce(0, 0, Bytes(), microseconds(us))});
        static_cast<void>(estimate(system, graph));
        EXPECT_EQ(at(graph, 0, 0).bytes.count() % (16 * 8), 0U);
        const Outcome outcome = simulate(system, graph, ring_policy());
        EXPECT_NEAR(to_microseconds(Time(outcome.end_ps)) / static_cast<double>(us), 1.0, 0.25);
    }
}

/// Exchanges between machines have another pace than all-reduces: their sizes come from simulation.
TEST(CollectiveSizes, AnExchangeOfTheEstimatedSizeTakesTheMeasuredTime) {
    const SystemParams system =
        load_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/dgx_a100_hdr.json", {});
    for (const CollectiveKind kind : {CollectiveKind::kAllToAll, CollectiveKind::kScatter}) {
        Operation operation = all_reduce(0, 0, Bytes(), microseconds(700));
        auto& exchange = std::get<CollectiveOperation>(operation.body);
        exchange.kind = kind;
        exchange.thread_blocks = 16;
        exchange.size_source = SizeSource::kEstimatedFromDuration;
        ExecutionGraph graph = graph_of({operation});
        graph.groups[0].ranks.resize(16);
        std::iota(graph.groups[0].ranks.begin(), graph.groups[0].ranks.end(), 0U);
        graph.ranks.assign(16, graph.ranks.front());
        EXPECT_EQ(estimate(system, graph), 1U);
        const Time time = traced_time(system, at(graph, 0, 0), 16);
        EXPECT_NEAR(to_microseconds(time), 700.0, 14.0) << to_string(kind);
    }
}

TEST(CollectiveSizes, AGroupOfOneRankNeedsNoMachine) {
    ExecutionGraph graph = graph_of({all_reduce(0, 0, Bytes(), microseconds(500))});
    graph.groups[0].ranks = {0};
    EXPECT_EQ(estimate(hgx_h100(), graph), 1U);
    EXPECT_EQ(at(graph, 0, 0).bytes, Bytes(16));
}

}  // namespace
}  // namespace switchfold::collective_sizes_test
