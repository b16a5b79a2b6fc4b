// SPDX-License-Identifier: Apache-2.0
#include "sim/results/summary.h"

#include "models/collectives/engine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace switchfold::summary_test {
namespace {

/// Random short intervals; `points` receives the integers that they cover, as the reference.
std::vector<Interval> any_stretches(std::set<std::uint64_t>& points) {
    std::vector<Interval> stretches;
    for (auto n = *rc::gen::inRange(0, 8); n > 0; --n) {
        const std::uint64_t start = *rc::gen::inRange<std::uint64_t>(0, 40);
        const std::uint64_t end = start + *rc::gen::inRange<std::uint64_t>(0, 10);
        stretches.push_back({start, end});
        for (std::uint64_t t = start; t < end; ++t)
            points.insert(t);
    }
    return stretches;
}

RC_GTEST_PROP(Stretches, MergeKeepsWhatTheyCoverAndSortsIt, ()) {
    std::set<std::uint64_t> points;
    std::vector<Interval> stretches = any_stretches(points);
    RC_ASSERT(merge_intervals(stretches) == points.size());
    for (std::size_t i = 0; i < stretches.size(); ++i) {
        RC_ASSERT(stretches[i].start < stretches[i].end);
        if (i > 0)
            RC_ASSERT(stretches[i - 1].end < stretches[i].start);
    }
}

RC_GTEST_PROP(Stretches, CoveredByCountsWhatLiesInside, ()) {
    std::set<std::uint64_t> points;
    std::vector<Interval> stretches = any_stretches(points);
    merge_intervals(stretches);
    const std::uint64_t start = *rc::gen::inRange<std::uint64_t>(0, 60);
    const std::uint64_t end = start + *rc::gen::inRange<std::uint64_t>(0, 30);
    std::uint64_t inside = 0;
    for (const std::uint64_t t : points)
        inside += t >= start && t < end ? 1 : 0;
    RC_ASSERT(covered(stretches, start, end) == inside);
}

/// Two ranks, two steps; each step: forward [0, 10), backward [10, 30) beside an all-reduce
/// [20, 40), optimizer [40, 45), all in microseconds after the step's start at 0 and 50.
class SummaryTest : public ::testing::Test {
protected:
    static constexpr std::uint64_t kUs = 1'000'000;

    SummaryTest() {
        auto rank = std::make_shared<RankGraph>();
        rank->streams = {{StreamKind::kGpu, "7", 0}, {StreamKind::kGpu, "20", 0}};
        std::vector<OperationTimes> times;
        const auto add = [&](Operation operation, std::uint64_t start, std::uint64_t end) {
            rank->operations.push_back(std::move(operation));
            times.push_back({Time(start * kUs), Time(end * kUs)});
        };
        for (std::uint32_t step = 0; step < 2; ++step) {
            const std::uint64_t t = step * 50ULL;
            add(kernel(step, Phase::kForward), t, t + 10);
            add(kernel(step, Phase::kBackward), t + 10, t + 30);
            Operation reduce;
            reduce.stream = 1;
            reduce.step = step;
            reduce.phase = Phase::kBackward;
            reduce.body = CollectiveOperation{};
            add(reduce, t + 20, t + 40);
            add(kernel(step, Phase::kOptimizer), t + 40, t + 45);
        }
        graph_.names = {"gemm"};
        graph_.groups = {{"world", {0, 1}}};
        graph_.ranks = {rank, rank};
        graph_.steps = 2;
        outcome_.times = {times, times};
        outcome_.end_ps = 95 * kUs;
    }

    static Operation kernel(std::uint32_t step, Phase phase) {
        Operation operation;
        operation.step = step;
        operation.phase = phase;
        KernelOperation body;
        body.isolated = microseconds(5);
        operation.body = body;
        return operation;
    }

    ExecutionGraph graph_;
    Outcome outcome_;
};

TEST_F(SummaryTest, PhasesAreBusyTimeAStep) {
    const PhaseTimes times = phase_times(graph_, outcome_, 2);
    EXPECT_DOUBLE_EQ(times.forward, 10);
    EXPECT_DOUBLE_EQ(times.backward, 20);
    EXPECT_DOUBLE_EQ(times.optimizer, 5);
    EXPECT_DOUBLE_EQ(times.other, 0);
    EXPECT_DOUBLE_EQ(times.collectives, 20);
    EXPECT_DOUBLE_EQ(times.exposed, 10);  // from the backward pass' end to the all-reduce's
    EXPECT_DOUBLE_EQ(times.iteration, 47.5);
}

TEST_F(SummaryTest, WaitingLastsUntilTheLastRankComes) {
    CollectiveRecord record;
    record.start = microseconds(20);
    record.ready = microseconds(35);
    record.end = microseconds(40);
    outcome_.collectives = {record};
    const PhaseTimes times = phase_times(graph_, outcome_, 2);
    EXPECT_DOUBLE_EQ(times.waiting, 7.5);          // 20 to 35, in one of two steps
    EXPECT_DOUBLE_EQ(times.exposed_waiting, 2.5);  // 30 to 35: the backward pass covers the rest
    EXPECT_DOUBLE_EQ(times.exposed, 10);           // waiting and transfer
}

TEST_F(SummaryTest, AnExchangeWaitsOnlyWhileNothingOfItMoves) {
    CollectiveRecord record;
    record.kind = CollectiveKind::kAllToAll;
    record.ranks = 8;
    record.start = microseconds(20);
    record.stalled = microseconds(31);
    record.ready = microseconds(35);
    record.end = microseconds(40);
    outcome_.collectives = {record};
    EXPECT_DOUBLE_EQ(phase_times(graph_, outcome_, 2).waiting, 2);  // 31 to 35
    EXPECT_DOUBLE_EQ(collective_results(graph_, outcome_).at(0).time_us, 16);
    outcome_.collectives[0].stalled = microseconds(37);  // moves other ranks' data until then
    EXPECT_DOUBLE_EQ(phase_times(graph_, outcome_, 2).waiting, 0);
    EXPECT_DOUBLE_EQ(collective_results(graph_, outcome_).at(0).time_us, 20);
}

/// Rank 0 computes [0, 10), sends [10, 30) and computes [30, 40); rank 1 computes [0, 10), receives
/// [5, 30) and computes [30, 40). Messages of two tags, both the first of theirs.
class TransferTest : public ::testing::Test {
protected:
    static constexpr std::uint64_t kUs = 1'000'000;

    TransferTest() {
        const std::vector<OperationTimes> sends = times({{0, 10}, {10, 30}, {10, 12}, {30, 40}});
        const std::vector<OperationTimes> receives = times({{0, 10}, {5, 30}, {10, 12}, {30, 40}});
        graph_.names = {"operation"};
        graph_.ranks = {
            rank(SendOperation{1, Bytes(64), 7}, SendOperation{1, Bytes(8), 9}),
            rank(ReceiveOperation{0, Bytes(64), 7}, ReceiveOperation{0, Bytes(8), 9})};
        outcome_.times = {sends, receives};
        outcome_.end_ps = 40 * kUs;
        outcome_.collectives = {transfer(7, 10, 30, 4), transfer(9, 10, 12, 1)};
    }

    static std::vector<OperationTimes>
    times(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& us) {
        std::vector<OperationTimes> all;
        for (const auto& [start, end] : us)
            all.push_back({Time(start * kUs), Time(end * kUs)});
        return all;
    }
    static std::shared_ptr<RankGraph> rank(OperationBody large, OperationBody small) {
        auto out = std::make_shared<RankGraph>();
        out->streams = {{StreamKind::kGpu, "7", 0}, {StreamKind::kGpu, "20", 0}};
        const std::vector<OperationBody> bodies{
            KernelOperation{}, std::move(large), std::move(small), KernelOperation{}};
        for (const OperationBody& body : bodies) {
            Operation operation;
            operation.body = body;
            out->operations.push_back(operation);
        }
        return out;
    }
    static CollectiveRecord
    transfer(std::uint64_t tag, std::uint64_t ready, std::uint64_t end, std::uint32_t channels) {
        CollectiveRecord record;
        record.kind = CollectiveKind::kSendReceive;
        record.ranks = 2;
        record.receiver = 1;
        record.tag = tag;
        record.choice.channels = channels;
        record.ready = microseconds(ready);
        record.end = microseconds(end);
        return record;
    }

    ExecutionGraph graph_;
    Outcome outcome_;
};

TEST_F(TransferTest, SendsAndReceivesAreExposedLikeCollectives) {
    const PhaseTimes times = phase_times(graph_, outcome_, 1);
    EXPECT_DOUBLE_EQ(times.exposed, 20);         // 10 to 30 on both
    EXPECT_DOUBLE_EQ(times.waiting, 2.5);        // 5 to 10 on rank 1
    EXPECT_DOUBLE_EQ(times.exposed_waiting, 0);  // beside its kernel
    EXPECT_DOUBLE_EQ(times.blocks, (20 * 4 + 25 * 4 + 2 + 2) / 2.0 / 40);
    std::vector<double> shares;
    for_each_kernel(
        graph_, outcome_, [&](const KernelRow& row) { shares.push_back(row.overlapped_share); });
    EXPECT_EQ(shares, (std::vector<double>{0, 0, 0.5, 0}));
}

TEST_F(TransferTest, ASenderThatFillsTheBuffersAndEndsDoesNotWait) {
    outcome_.collectives[0].ready = microseconds(31);
    outcome_.times[1][1] = {microseconds(31), microseconds(40)};
    EXPECT_DOUBLE_EQ(phase_times(graph_, outcome_, 1).waiting, 0);
}

TEST_F(SummaryTest, TheFirstStepAloneIsAMeanOverOne) {
    outcome_.times[0][5].end = outcome_.times[1][5].end = Time(200 * kUs);  // backward of step 1
    EXPECT_DOUBLE_EQ(phase_times(graph_, outcome_, 1).backward, 20);
    EXPECT_GT(phase_times(graph_, outcome_, 2).backward, 20);
}

TEST_F(SummaryTest, KernelsRunningAtTheSameTimeCountOnce) {
    outcome_.times[0][0].end = Time(15 * kUs);  // forward overlaps backward, another phase
    outcome_.times[1][0].end = Time(15 * kUs);
    EXPECT_DOUBLE_EQ(phase_times(graph_, outcome_, 2).forward, 12.5);
    EXPECT_DOUBLE_EQ(phase_times(graph_, outcome_, 2).backward, 20);
}

TEST_F(SummaryTest, AKernelsRowSaysHowMuchOfItWasOverlapped) {
    std::vector<KernelRow> rows;
    for_each_kernel(graph_, outcome_, [&](const KernelRow& row) { rows.push_back(row); });
    ASSERT_EQ(rows.size(), 12U);  // three kernels, two steps, two ranks
    EXPECT_EQ(rows[1].phase, "backward");
    EXPECT_EQ(rows[1].stream, "7");
    EXPECT_DOUBLE_EQ(rows[1].start_us, 10);
    EXPECT_DOUBLE_EQ(rows[1].duration_us, 20);
    EXPECT_DOUBLE_EQ(rows[1].isolated_us, 5);
    EXPECT_DOUBLE_EQ(rows[1].overlapped_share, 0.5);
    EXPECT_DOUBLE_EQ(rows[0].overlapped_share, 0);
    EXPECT_EQ(rows[11].rank, 1U);
}

TEST_F(SummaryTest, BandwidthsAreAsNcclTestsDefinesThem) {
    graph_.groups = {{"world", {0, 1, 2, 3, 4, 5, 6, 7}}};
    const auto bus_of = [&](CollectiveKind kind) {
        CollectiveRecord record;
        record.kind = kind;
        record.ranks = 8;
        record.bytes = Bytes(800'000);
        record.start = microseconds(5);
        record.ready = microseconds(10);
        record.end = microseconds(18);
        outcome_.collectives = {record};
        const auto results = collective_results(graph_, outcome_);
        EXPECT_DOUBLE_EQ(results.at(0).time_us, 8);  // without waiting for peers
        EXPECT_DOUBLE_EQ(results.at(0).algorithm_bandwidth_GBps, 100);
        return results.at(0).bus_bandwidth_GBps;
    };
    EXPECT_DOUBLE_EQ(bus_of(CollectiveKind::kAllReduce), 175);
    EXPECT_DOUBLE_EQ(bus_of(CollectiveKind::kReduceScatter), 87.5);
    EXPECT_DOUBLE_EQ(bus_of(CollectiveKind::kAllGather), 87.5);
    EXPECT_DOUBLE_EQ(bus_of(CollectiveKind::kAllToAll), 87.5);
    EXPECT_DOUBLE_EQ(bus_of(CollectiveKind::kBroadcast), 100);
    EXPECT_DOUBLE_EQ(bus_of(CollectiveKind::kReduce), 100);
}

TEST_F(SummaryTest, CollectivesAreListedByTheirStart) {
    CollectiveRecord late;
    late.start = late.ready = late.end = microseconds(9);
    CollectiveRecord early;
    early.sequence = 1;
    early.start = early.ready = early.end = microseconds(3);
    outcome_.collectives = {late, early};
    const auto results = collective_results(graph_, outcome_);
    EXPECT_DOUBLE_EQ(results[0].start_us, 3);
    EXPECT_DOUBLE_EQ(results[1].start_us, 9);
    EXPECT_DOUBLE_EQ(results[0].bus_bandwidth_GBps, 0);  // zero time: no bandwidth
}

}  // namespace
}  // namespace switchfold::summary_test
