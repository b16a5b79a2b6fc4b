// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/rank_alignment.h"

#include "workloads/profile/trace_summary.h"
#include "workloads/readers/read_traces.h"
#include "workloads/tests/trace_file.h"

#include <gtest/gtest.h>

namespace switchfold::rank_alignment_test {
namespace {

using test_data::TemporaryFile;
using test_data::TraceText;

/// Trace of a rank whose collectives begin at `starts` and take `durations`, on a clock that is
/// `offset` us ahead.
std::string rank_of(
    std::uint32_t rank, const std::vector<int>& starts, const std::vector<int>& durations,
    int offset, const std::string& elements = "1000") {
    TraceText text;
    text.header(fmt::format(
        R"("deviceProperties": [{{"id": 0, "name": "NVIDIA H100"}}], "distributedInfo": {{"rank": {}, "world_size": 3}},)",
        rank));
    for (std::size_t i = 0; i < starts.size(); ++i)
        text.launch(
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL", fmt::format("{}", offset + starts[i] - 5),
            "20", fmt::format("{}", offset + starts[i]), fmt::format("{}", durations[i]),
            fmt::format(R"("In msg nelems": {}, "dtype": "Float", "Group size": 3)", elements));
    return text.text();
}

TEST(RankAlignment, SeparatesSkewFromTransfer) {
    // Each collective takes 20 us once the last rank has arrived. Rank 1 arrives 30 us late at the
    // second.
    const TemporaryFile a("a.json", rank_of(0, {100, 200, 300}, {20, 50, 20}, 0));
    const TemporaryFile b("b.json", rank_of(1, {100, 230, 300}, {20, 20, 20}, 70'000));
    const TraceWorkload workload = read_traces({{b.path(), a.path()}});
    const RankAlignment alignment = align_ranks(workload);
    EXPECT_TRUE(alignment.problems.empty());
    EXPECT_EQ(alignment.missing_ranks, std::vector<std::uint32_t>{2});
    EXPECT_NEAR(alignment.clock_offset_us[1], 0, 1e-6) << "both count from their first launch";
    ASSERT_EQ(alignment.collectives.size(), 3U);
    EXPECT_EQ(alignment.collectives[0].skew, Time());
    EXPECT_EQ(alignment.collectives[1].skew, microseconds(30));
    for (const AlignedCollective& collective : alignment.collectives)
        EXPECT_EQ(collective.transfer, microseconds(20));
}

TEST(RankAlignment, ClocksComeFromTheEnds) {
    // Collectives end together on all ranks. Rank 1 waits 40 us in the first one, so its clock,
    // which starts at its first launch, is 40 us off.
    const TemporaryFile a("a.json", rank_of(0, {140, 200, 300}, {20, 20, 20}, 0));
    const TemporaryFile b("b.json", rank_of(1, {100, 200, 300}, {60, 20, 20}, 0));
    const RankAlignment alignment = align_ranks(read_traces({{a.path(), b.path()}}));
    EXPECT_NEAR(alignment.clock_offset_us[1], 40, 1e-6);
    EXPECT_EQ(alignment.collectives[0].skew, microseconds(40));
    EXPECT_EQ(alignment.collectives[0].transfer, microseconds(20));
}

TEST(RankAlignment, RanksThatDisagree) {
    const TemporaryFile a("a.json", rank_of(0, {100, 200}, {20, 20}, 0));
    const TemporaryFile b("b.json", rank_of(1, {100}, {20}, 0, "1001"));
    const RankAlignment alignment = align_ranks(read_traces({{a.path(), b.path()}}));
    ASSERT_EQ(alignment.problems.size(), 2U);
    EXPECT_NE(
        alignment.problems[0].message.find("all_reduce number 0 of group world with 4004 B where "
                                           "rank 0 has 4 kB"),
        std::string::npos)
        << alignment.problems[0].message;
    EXPECT_NE(
        alignment.problems[1].message.find("number 1 of group world, which 1 of the 2 traced"),
        std::string::npos);
}

TEST(TraceSummary, CountsTimesOverlapAndSlowdown) {
    TraceText text;
    text.event("cpu_op", "AddmmBackward0", "1", "0", "100");
    text.launch("gemm", "1", "7", "10", "10");
    text.launch(
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "2", "20", "20", "40",
        R"("In msg nelems": 1000, "dtype": "Float")");
    text.launch("gemm", "3", "7", "30", "15");
    const TraceWorkload workload = text.read();
    const TraceSummary summary = summarise(workload, 0);
    ASSERT_EQ(summary.phases.size(), 1U);
    EXPECT_EQ(summary.phases[0].name, "backward");
    EXPECT_EQ(summary.phases[0].time, microseconds(25));
    ASSERT_EQ(summary.kernels.size(), 1U);
    EXPECT_EQ(summary.kernels[0].count, 2U);
    ASSERT_EQ(summary.collectives.size(), 1U);
    EXPECT_EQ(summary.collectives[0].bytes, Bytes(4000));
    EXPECT_EQ(summary.communication, microseconds(40));
    EXPECT_EQ(summary.overlapped, microseconds(15));
    EXPECT_EQ(summary.slowed_kernels, 1U);
    EXPECT_NEAR(summary.slowdown(), 0.5, 1e-9);
    EXPECT_TRUE(impossible_orders(workload).empty());
}

TEST(TraceSummary, ImpossibleOrdersNameTheOperations) {
    const TraceWorkload workload = TraceText()
                                       .launch("first", "1", "7", "10", "50")
                                       .launch("second", "2", "7", "20", "5")
                                       .read();
    const std::vector<Problem> problems = impossible_orders(workload);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(
        problems[0].message,
        "second began 40.000 us before first ended, which is before it on its stream; expected it "
        "after that");
}

}  // namespace
}  // namespace switchfold::rank_alignment_test
