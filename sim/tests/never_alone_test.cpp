// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/trace/never_alone.h"

#include "sim/config/load.h"
#include "sim/pool/pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace switchfold::never_alone_test {
namespace {

constexpr std::uint32_t kRanks = 8;
constexpr std::uint32_t kKernels = 6;

SystemParams hgx_h100() {
    return load_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/hgx_h100.json", {});
}

/// Kernels of growing length, launched together with an all-reduce that is longer than all of them.
ExecutionGraph kernels_beside() {
    auto rank = std::make_shared<RankGraph>();
    rank->streams = {{StreamKind::kGpu, "7", 0}, {StreamKind::kGpu, "20", 0}};
    Operation reduce;
    reduce.stream = 1;
    CollectiveOperation collective;
    collective.bytes = mebibytes(512);
    reduce.body = collective;
    rank->operations.push_back(reduce);
    for (std::uint32_t i = 0; i < kKernels; ++i) {
        KernelOperation kernel;
        // Waves of whole SMs, and streams of bytes.
        kernel.grid = {i % 2 == 0 ? 132U : 4096U, 1, 1};
        kernel.block = {i % 2 == 0 ? 384U : 256U, 1, 1};
        kernel.registers_per_thread = i % 2 == 0 ? 168 : 32;
        kernel.isolated = microseconds(20 + 15 * i);
        kernel.bytes_read = mebibytes(i % 2 == 0 ? 4 : 30 + 20 * i);
        Operation operation;
        operation.body = kernel;
        rank->operations.push_back(operation);
    }
    ExecutionGraph graph;
    graph.names = {"one"};
    graph.groups = {{"world", {}}};
    for (std::uint32_t r = 0; r < kRanks; ++r)
        graph.groups.front().ranks.push_back(r);
    graph.ranks.assign(kRanks, rank);
    return graph;
}

/// The graph that a trace of its run gives, whose kernels were never seen alone.
struct Traced {
    ExecutionGraph graph;
    std::vector<BigVector<TraceWorkload::Measured>> measured;
};
Traced trace_of(const SystemParams& system, const ExecutionGraph& graph) {
    const Outcome run = simulate(system, graph, ring_policy());
    Traced traced{graph, {{}}};
    auto rank = std::make_shared<RankGraph>(*graph.ranks.front());
    for (std::size_t i = 0; i < rank->operations.size(); ++i) {
        const OperationTimes& times = run.times[0][i];
        traced.measured.front().push_back({times.start, times.end});
        if (auto* kernel = std::get_if<KernelOperation>(&rank->operations[i].body)) {
            kernel->measured = kernel->isolated = times.end - times.start;
            kernel->duration_source = DurationSource::kMeasuredOverlapped;
        }
    }
    traced.graph.ranks.assign(kRanks, rank);
    return traced;
}

NeverAlone solve(const SystemParams& system, Traced& traced) {
    return set_never_alone(
        system, traced.graph, traced.measured,
        [&](std::uint32_t) {
            return TracedRank{0, &*system.gpu};
        },
        {}, run_jobs_quietly);
}

double isolated_us(const ExecutionGraph& graph, std::size_t operation) {
    return to_microseconds(
        std::get<KernelOperation>(graph.ranks[0]->operations[operation].body).isolated);
}

TEST(NeverAlone, KernelsTakeAloneWhatTheyTookBeforeARunSlowedThem) {
    const SystemParams system = hgx_h100();
    const ExecutionGraph graph = kernels_beside();
    Traced traced = trace_of(system, graph);
    double slowed = 0;
    for (std::size_t i = 1; i <= kKernels; ++i)
        slowed += isolated_us(traced.graph, i) / isolated_us(graph, i);
    EXPECT_GT(slowed / kKernels, 1.1) << "the trace shows a slowdown";
    const NeverAlone all = solve(system, traced);
    EXPECT_TRUE(all.solved);
    EXPECT_EQ(all.kernels, kKernels) << "ranks that share their graph count once";
    EXPECT_LT(all.alone, all.traced);
    // While the first two run, the all-reduce comes into its stride.
    for (std::size_t i = 1; i <= kKernels; ++i)
        EXPECT_NEAR(isolated_us(traced.graph, i) / isolated_us(graph, i), 1, i <= 2 ? 0.16 : 0.03)
            << i;
}

TEST(NeverAlone, WhatWasSeenAloneKeepsItsTime) {
    const SystemParams system = hgx_h100();
    Traced traced = trace_of(system, kernels_beside());
    auto rank = std::make_shared<RankGraph>(*traced.graph.ranks.front());
    auto& seen = std::get<KernelOperation>(rank->operations[1].body);
    seen.duration_source = DurationSource::kOtherOccurrence;
    seen.isolated = microseconds(3);
    traced.graph.ranks.assign(kRanks, rank);
    EXPECT_EQ(solve(system, traced).kernels, kKernels - 1);
    EXPECT_EQ(isolated_us(traced.graph, 1), 3);
}

TEST(NeverAlone, RanksThatDoNothingAreNotAskedFor) {
    const SystemParams system = hgx_h100();
    Traced traced = trace_of(system, kernels_beside());
    const auto idle = std::make_shared<const RankGraph>();
    for (std::uint32_t r = 1; r < kRanks; ++r)
        traced.graph.ranks[r] = idle;
    const NeverAlone all = solve(system, traced);
    EXPECT_TRUE(all.solved);
    EXPECT_EQ(all.kernels, kKernels);
    EXPECT_EQ(traced.graph.ranks[1], idle);
}

TEST(NeverAlone, LittleOfTheKernelsTimeIsLeftAsItIs) {
    const SystemParams system = hgx_h100();
    Traced traced = trace_of(system, kernels_beside());
    auto rank = std::make_shared<RankGraph>(*traced.graph.ranks.front());
    for (std::size_t i = 2; i <= kKernels; ++i) {
        auto& kernel = std::get<KernelOperation>(rank->operations[i].body);
        kernel.duration_source = DurationSource::kMeasuredAlone;
        kernel.measured = microseconds(2000);
    }
    traced.graph.ranks.assign(kRanks, rank);
    const double before = isolated_us(traced.graph, 1);
    const NeverAlone all = solve(system, traced);
    EXPECT_FALSE(all.solved);
    EXPECT_EQ(all.kernels, 1U);
    EXPECT_EQ(isolated_us(traced.graph, 1), before);
}

}  // namespace
}  // namespace switchfold::never_alone_test
