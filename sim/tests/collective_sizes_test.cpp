// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/trace/collective_sizes.h"

#include "models/collectives/engine.h"
#include "sim/config/load.h"
#include "sim/machine/simulate.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

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

UnknownSizes estimate_all(const SystemParams& system, ExecutionGraph& graph) {
    return estimate_collective_sizes(system, graph, {}, run_jobs_quietly);
}

/// \returns the number of those whose size was found.
std::uint32_t estimate(const SystemParams& system, ExecutionGraph& graph) {
    const UnknownSizes sizes = estimate_all(system, graph);
    EXPECT_EQ(sizes.given, 0U);
    return sizes.estimated;
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
    // Searches of several times share what they try out: both are near the time.
    const auto size = [](const ExecutionGraph& of) {
        return static_cast<double>(at(of, 0, 0).bytes.count());
    };
    EXPECT_NEAR(size(graph) / size(shortest), 1.0, 0.03);
}

/// Of the first collective, from its last rank's arrival.
Time time_in_run(const SystemParams& system, const ExecutionGraph& graph) {
    const Outcome outcome = simulate(system, graph, ring_policy());
    const CollectiveRecord& record = outcome.collectives.front();
    return record.end - record.ready;
}

/// Whatever the kind, and whether the trace shows the kernel's blocks.
TEST(CollectiveSizes, ARunByRingsTakesTheMeasuredTime) {
    const SystemParams system = hgx_h100();
    for (const CollectiveKind kind : kCollectiveKinds)
        for (const std::uint32_t blocks : {0U, 4U}) {
            Operation operation = all_reduce(0, 0, Bytes(), microseconds(200));
            auto& collective = std::get<CollectiveOperation>(operation.body);
            collective.kind = kind;
            collective.thread_blocks = blocks;
            ExecutionGraph graph = graph_of({operation});
            EXPECT_EQ(estimate(system, graph), 1U);
            EXPECT_EQ(at(graph, 0, 0).bytes.count() % (16 * 8), 0U);
            EXPECT_NEAR(to_microseconds(time_in_run(system, graph)), 200.0, 2.0)
                << to_string(kind) << " with " << blocks;
        }
}

/// Also between machines, and of a group that is not the first ranks.
TEST(CollectiveSizes, OfAnyGroupOfTheMachine) {
    const SystemParams system =
        load_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/dgx_a100_hdr.json", {});
    for (const CollectiveKind kind :
         {CollectiveKind::kAllToAll, CollectiveKind::kScatter, CollectiveKind::kAllGather}) {
        Operation operation = all_reduce(0, 0, Bytes(), microseconds(700));
        auto& collective = std::get<CollectiveOperation>(operation.body);
        collective.kind = kind;
        collective.thread_blocks = 16;
        ExecutionGraph graph = graph_of({operation});
        graph.groups[0].ranks = {1, 9};
        auto idle = std::make_shared<RankGraph>();
        idle->streams = graph.ranks[0]->streams;
        const auto rank = graph.ranks[0];
        graph.ranks.assign(10, idle);
        graph.ranks[1] = graph.ranks[9] = rank;
        EXPECT_EQ(estimate(system, graph), 1U);
        EXPECT_NEAR(to_microseconds(time_in_run(system, graph)), 700.0, 7.0) << to_string(kind);
    }
}

TEST(CollectiveSizes, ATimeThatNoSizeTakesIsGiven) {
    const SystemParams system = hgx_h100();
    ExecutionGraph graph = graph_of(
        {all_reduce(0, 0, Bytes(), microseconds(9)), all_reduce(1, 0, Bytes(), microseconds(400)),
         all_reduce(2, 1, Bytes(), microseconds(3)), all_reduce(3, 1, Bytes(), microseconds(400))});
    const UnknownSizes sizes = estimate_all(system, graph);
    EXPECT_EQ(sizes.given, 2U);
    EXPECT_EQ(sizes.estimated, 2U);
    for (const std::size_t index : {0U, 2U}) {
        EXPECT_EQ(at(graph, 5, index).given, microseconds(3));
        EXPECT_TRUE(at(graph, 5, index).holds_blocks);
        EXPECT_EQ(at(graph, 5, index).bytes, Bytes());
    }
    EXPECT_EQ(time_in_run(system, graph), microseconds(3));
    // What is given is known.
    EXPECT_EQ(estimate_all(system, graph).given, 0U);
}

/// Of an exchange of unequal parts the matrix is known, also where a rank sends nothing.
TEST(CollectiveSizes, AnExchangeThatSendsNothingIsKnown) {
    Operation operation = all_reduce(0, 0, Bytes(), microseconds(40));
    auto& exchange = std::get<CollectiveOperation>(operation.body);
    exchange.kind = CollectiveKind::kAllToAll;
    exchange.exchange = 1;
    ExecutionGraph graph = graph_of({operation});
    graph.exchanges = {UnevenExchange{8, std::vector<std::uint64_t>(64, 0)}};
    EXPECT_EQ(estimate(hgx_h100(), graph), 0U);
    EXPECT_EQ(at(graph, 0, 0).bytes, Bytes());
}

TEST(CollectiveSizes, AGroupOfOneRankNeedsNoMachine) {
    ExecutionGraph graph = graph_of({all_reduce(0, 0, Bytes(), microseconds(500))});
    graph.groups[0].ranks = {0};
    EXPECT_EQ(estimate(hgx_h100(), graph), 1U);
    EXPECT_EQ(at(graph, 0, 0).bytes, Bytes(16));
}

}  // namespace
}  // namespace switchfold::collective_sizes_test
