// SPDX-License-Identifier: Apache-2.0
// Collectives that take their traced time, and exchanges of unequal parts, in whole runs.
#include "models/collectives/engine.h"
#include "sim/config/load.h"
#include "sim/kinds/trace/late_peers.h"
#include "sim/machine/simulate.h"
#include "sim/pool/pool.h"
#include "sim/results/summary.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace switchfold::as_traced_run_test {
namespace {

SystemParams hgx_h100() {
    return load_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/hgx_h100.json", {});
}

/// A rank with a kernel that fills the GPU, beside a collective before which a host thread waits.
std::shared_ptr<const RankGraph> rank_of(const CollectiveOperation& collective, Time wait) {
    auto rank = std::make_shared<RankGraph>();
    rank->streams = {
        {StreamKind::kHost, "host", 0}, {StreamKind::kGpu, "7", 0}, {StreamKind::kGpu, "20", 0}};
    Operation host;
    host.body = HostDelayOperation{wait, false};
    rank->operations.push_back(host);
    Operation call;
    call.stream = 2;
    call.body = collective;
    call.dependencies.push_back(0);
    rank->operations.push_back(call);
    Operation compute;
    compute.stream = 1;
    KernelOperation kernel;
    kernel.grid = {4000, 1, 1};
    kernel.block = {1024, 1, 1};
    kernel.registers_per_thread = 32;
    kernel.isolated = microseconds(300);
    compute.gap = microseconds(5);
    compute.body = kernel;
    rank->operations.push_back(compute);
    return rank;
}

ExecutionGraph pair_of(const CollectiveOperation& collective, Time second_waits) {
    ExecutionGraph graph;
    graph.names = {"one"};
    graph.groups = {{"world", {0, 1}}};
    graph.ranks = {rank_of(collective, Time()), rank_of(collective, second_waits)};
    return graph;
}

CollectiveOperation given(Time time, bool holds_blocks) {
    CollectiveOperation collective;
    collective.kind = CollectiveKind::kAllGather;
    collective.given = time;
    collective.holds_blocks = holds_blocks;
    collective.thread_blocks = 64;
    return collective;
}

TEST(AsTracedRun, BlocksHoldTheirSmsWhileTheyWaitForTheOtherRank) {
    const auto kernel_takes = [](bool holds_blocks) {
        const ExecutionGraph graph =
            pair_of(given(microseconds(20), holds_blocks), microseconds(600));
        const Outcome outcome = simulate(hgx_h100(), graph, ring_policy());
        const OperationTimes& kernel = outcome.times[0][2];
        return kernel.end - kernel.start;
    };
    EXPECT_NEAR(to_microseconds(kernel_takes(false)), 300.0, 1e-3);
    EXPECT_GT(kernel_takes(true), microseconds(350));
}

TEST(AsTracedRun, EndsItsTimeAfterTheLastRankCame) {
    const ExecutionGraph graph = pair_of(given(microseconds(20), true), microseconds(600));
    const Outcome outcome = simulate(hgx_h100(), graph, ring_policy());
    EXPECT_EQ(outcome.times[0][1].start, Time());
    EXPECT_EQ(outcome.times[0][1].end, microseconds(620));
    EXPECT_EQ(outcome.times[1][1].end, microseconds(620));
    const std::vector<CollectiveResult> results = collective_results(graph, outcome);
    ASSERT_EQ(results.size(), 1U);
    EXPECT_EQ(results[0].algorithm, "as_traced");
    EXPECT_EQ(results[0].protocol, "");
    EXPECT_EQ(results[0].channels, 64U);
    EXPECT_NEAR(results[0].time_us, 20.0, 1e-6);
}

/// A long time does not look like a run that hangs.
TEST(AsTracedRun, MayTakeAnyTime) {
    const Time long_time = microseconds(1'000'000) * 500;
    const ExecutionGraph graph = pair_of(given(long_time, true), Time());
    EXPECT_EQ(simulate(hgx_h100(), graph, ring_policy()).times[0][1].end, long_time);
}

TEST(AsTracedRun, PeersAreLateByWhatItWasLonger) {
    CollectiveOperation collective = given(microseconds(20), true);
    collective.measured = microseconds(50);
    ExecutionGraph graph = pair_of(collective, Time());
    graph.ranks[1] = graph.ranks[0];
    const LatePeers late = derive_late_peers(hgx_h100(), graph, {}, run_jobs_quietly);
    EXPECT_EQ(late.waited, 1U);
    EXPECT_EQ(late.waiting, microseconds(30));
    const Outcome outcome = simulate(hgx_h100(), graph, ring_policy());
    EXPECT_EQ(outcome.times[0][1].end, microseconds(50));
}

TEST(UnevenExchangeRun, PeersOfItAreLateByTheTimeOfItsOwnParts) {
    CollectiveOperation exchange;
    exchange.kind = CollectiveKind::kAllToAll;
    exchange.exchange = 1;
    exchange.bytes = mebibytes(64);
    exchange.measured = microseconds(50);
    ExecutionGraph graph = pair_of(exchange, Time());
    graph.ranks[1] = graph.ranks[0];
    // Equal parts of 32 MiB would take longer than the kernel was resident.
    graph.exchanges = {UnevenExchange{2, {0, 0, 0, 0}}};
    const LatePeers late = derive_late_peers(hgx_h100(), graph, {}, run_jobs_quietly);
    EXPECT_EQ(late.waited, 1U);
}

}  // namespace
}  // namespace switchfold::as_traced_run_test
