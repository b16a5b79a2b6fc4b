// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/read_captures.h"

#include "core/error.h"
#include "core/tests/temporary_folder.h"
#include "workloads/capture/tests/written_capture.h"
#include "workloads/readers/read_traces.h"
#include "workloads/tests/round_trip.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace switchfold::capture::read_captures_test {
namespace {

constexpr const char* kAllReduce = "_Z31ncclDevKernel_AllReduce_Sum_f32v";

class ReadCapturesTest : public ::testing::Test {
protected:
    /// A step with a matrix product, an all-reduce that overlaps an element-wise kernel, and a
    /// copy.
    WrittenCapture step(std::uint32_t rank, std::uint32_t ranks) {
        WrittenCapture capture(folder_.path(), rank, ranks);
        capture.range("step 0", 0, 100'000)
            .range("forward", 500, 9'000)
            .range("aten::mm, seq = 1, sizes = [[64, 32], [32, 16]]", 900, 1'500)
            .kernel("_Z4gemmPf", 1'000, 10'000, 20'000)
            .range("backward", 9'500, 60'000)
            .kernel(kAllReduce, 12'000, 21'000, 50'000, 20)
            .nccl("AllReduce", 13'000, 1000)
            .kernel("_Z4reluPf", 14'000, 22'000, 30'000)
            .copy(16'000, 31'000, 33'000);
        return capture;
    }
    [[nodiscard]] TraceWorkload read(std::vector<std::string> names) const {
        ReadOptions options;
        for (const std::string& name : names)
            options.files.push_back(folder_.path() / name);
        return read_traces(options);
    }
    [[nodiscard]] std::string message(std::vector<std::string> names) const {
        try {
            (void)read(std::move(names));
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "no error";
    }
    TemporaryFolder folder_;
};

template <class Body>
std::vector<const Body*> all(const TraceWorkload& workload, std::size_t rank = 0) {
    std::vector<const Body*> bodies;
    for (const Operation& operation : workload.graph.ranks[rank]->operations)
        if (const auto* body = std::get_if<Body>(&operation.body))
            bodies.push_back(body);
    return bodies;
}

TEST_F(ReadCapturesTest, EveryRecordIsUsedOrDropped) {
    WrittenCapture capture = step(0, 1);
    capture.add(Marker{capture.clock(), 50, Marker::Edge::kStart, WrittenCapture::kThread, 0, 0})
        .add(Marker{capture.clock(), 50, Marker::Edge::kStart, WrittenCapture::kThread, 0, 0})
        .add(Marker{capture.clock(), 51, Marker::Edge::kMark, WrittenCapture::kThread, 0, 0})
        .add(EventRecord{1, 1, 7, 5, 1})
        .add(Lost{3, "records"})
        .nccl("AllReduce", 1, 1)
        .end();
    const TraceFileReport report = read({"rank0.sfcapture"}).files.at(0);
    std::uint64_t accounted = 0;
    for (const auto& counts : {report.used, report.dropped})
        for (const auto& [what, count] : counts)
            accounted += count;
    EXPECT_EQ(accounted, report.events);
    EXPECT_EQ(report.dropped.at("NVTX ranges without an end"), 2U);
    EXPECT_EQ(report.dropped.at("NVTX marks and ends of ranges without a start"), 1U);
    EXPECT_EQ(report.dropped.at("NCCL calls whose kernel is not in the capture"), 1U);
    EXPECT_EQ(report.used.at("NCCL calls"), 1U);
}

TEST_F(ReadCapturesTest, ACaptureIsAnExecutionGraph) {
    step(0, 2).end();
    const TraceWorkload workload = read({"rank0.sfcapture"});
    check(workload.graph);
    EXPECT_EQ(workload.files[0].format, "switchfold capture");
    EXPECT_EQ(workload.files[0].gpu_name, "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(workload.files[0].world_size, 2U);
    EXPECT_EQ(workload.graph.steps, 1U);
    const auto kernels = all<KernelOperation>(workload);
    ASSERT_EQ(kernels.size(), 2U);
    EXPECT_EQ(kernels[0]->grid, (Dim3{16, 2, 1}));
    EXPECT_EQ(kernels[0]->registers_per_thread, 64U);
    EXPECT_EQ(kernels[0]->shared_memory, Bytes(1024));
    EXPECT_EQ(kernels[0]->isolated, Time(10'000'000));
    EXPECT_EQ(kernels[0]->byte_source, ByteSource::kShapes);
    ASSERT_EQ(all<CopyOperation>(workload).size(), 1U);
    EXPECT_EQ(all<CopyOperation>(workload)[0]->bytes, Bytes(4096));
    EXPECT_EQ(
        std::count(workload.graph.names.begin(), workload.graph.names.end(), "gemm(float*)"), 1);
}

TEST_F(ReadCapturesTest, PhasesComeFromRanges) {
    step(0, 1).end();
    const TraceWorkload workload = read({"rank0.sfcapture"});
    std::map<std::string, Phase> phases;
    for (const Operation& operation : workload.graph.ranks[0]->operations)
        phases[workload.graph.names[operation.name]] = operation.phase;
    EXPECT_EQ(phases.at("gemm(float*)"), Phase::kForward);
    EXPECT_EQ(phases.at("relu(float*)"), Phase::kBackward);
}

TEST_F(ReadCapturesTest, NcclTellsSizeAlgorithmAndGroup) {
    step(0, 2).end();
    step(1, 2).end();
    const TraceWorkload workload = read({"rank0.sfcapture", "rank1.sfcapture"});
    ASSERT_EQ(workload.graph.ranks.size(), 2U);
    const auto collectives = all<CollectiveOperation>(workload, 1);
    ASSERT_EQ(collectives.size(), 1U);
    EXPECT_EQ(collectives[0]->kind, CollectiveKind::kAllReduce);
    EXPECT_EQ(collectives[0]->bytes, Bytes(2000));
    EXPECT_EQ(collectives[0]->datatype, Datatype::kBfloat16);
    EXPECT_EQ(collectives[0]->algorithm, "nvls");
    EXPECT_EQ(collectives[0]->protocol, "simple");
    EXPECT_EQ(collectives[0]->size_source, SizeSource::kTrace);
    ASSERT_EQ(workload.graph.groups.size(), 1U);
    EXPECT_EQ(workload.graph.groups[0].ranks, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_TRUE(workload.files[0].warnings.empty()) << workload.files[0].warnings[0];
}

TEST_F(ReadCapturesTest, ReduceScatterAndAllGatherCountTheWholeBuffer) {
    WrittenCapture capture(folder_.path(), 0, 4);
    capture.kernel("_Z35ncclDevKernel_ReduceScatter_Sum_f32v", 20, 1'000, 2'000)
        .nccl("ReduceScatter", 30, 100)
        .kernel("_Z23ncclDevKernel_AllGatherv", 40, 3'000, 4'000)
        .nccl("AllGather", 50, 50)
        .end();
    const auto collectives = all<CollectiveOperation>(read({"rank0.sfcapture"}));
    ASSERT_EQ(collectives.size(), 2U);
    EXPECT_EQ(collectives[0]->bytes, Bytes(100 * 4 * 2));
    EXPECT_EQ(collectives[1]->bytes, Bytes(50 * 4 * 2));
}

constexpr const char* kSendReceive = "_Z22ncclDevKernel_SendRecvv";

/// A batch of messages moves at once; a kernel with a single one is that message.
TEST_F(ReadCapturesTest, SendsAndReceivesAreMessagesToTheirPeers) {
    const auto written = [&](std::uint32_t rank, std::uint32_t next, std::uint32_t before) {
        WrittenCapture capture(folder_.path(), rank, 4);
        capture.kernel("_Z4gemmPf", 10, 500, 900)
            .kernel(kSendReceive, 1'000, 2'000, 3'000, 20)
            .transfer("Send", 1'100, 1000, next)
            .transfer("Recv", 1'200, 1000, before);
        if (rank < 2)
            capture.kernel(kSendReceive, 4'000, 5'000, 6'000, 20)
                .transfer(rank == 0 ? "Send" : "Recv", 4'100, 64, 1 - rank);
        capture.end();
    };
    for (std::uint32_t rank = 0; rank < 4; ++rank)
        written(rank, (rank + 1) % 4, (rank + 3) % 4);
    const TraceWorkload workload =
        read({"rank0.sfcapture", "rank1.sfcapture", "rank2.sfcapture", "rank3.sfcapture"});
    check(workload.graph);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        EXPECT_TRUE(all<CollectiveOperation>(workload, rank).empty());
        const auto sends = all<SendOperation>(workload, rank);
        const auto receives = all<ReceiveOperation>(workload, rank);
        ASSERT_EQ(sends.size(), rank == 0 ? 2U : 1U);
        ASSERT_EQ(receives.size(), rank == 1 ? 2U : 1U);
        EXPECT_EQ(sends[0]->peer, (rank + 1) % 4);
        EXPECT_EQ(sends[0]->bytes, Bytes(2000));
        EXPECT_EQ(receives[0]->peer, (rank + 3) % 4);
        EXPECT_EQ(sends[0]->tag, receives[0]->tag);
    }
    EXPECT_EQ(all<SendOperation>(workload, 0)[1]->peer, 1U);
    EXPECT_EQ(all<ReceiveOperation>(workload, 1)[1]->bytes, Bytes(128));
    const TraceFileReport& report = workload.files[0];
    std::uint64_t accounted = 0;
    for (const auto& counts : {report.used, report.dropped})
        for (const auto& [what, count] : counts)
            accounted += count;
    EXPECT_EQ(accounted, report.events);
}

TEST_F(ReadCapturesTest, SendsToEverybodyAreAnExchangeWithTheirParts) {
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        WrittenCapture capture(folder_.path(), rank, 3);
        capture.kernel(kSendReceive, 1'000, 2'000, 3'000, 20);
        for (std::uint32_t peer = 0; peer < 3; ++peer)
            if (peer != rank)
                capture.transfer("Send", 1'100, 100 * (rank + 1) + peer, peer)
                    .transfer("Recv", 1'100, 100 * (peer + 1) + rank, peer);
        capture.end();
    }
    const TraceWorkload workload = read({"rank0.sfcapture", "rank1.sfcapture", "rank2.sfcapture"});
    const auto collectives = all<CollectiveOperation>(workload, 1);
    ASSERT_EQ(collectives.size(), 1U);
    EXPECT_EQ(collectives[0]->kind, CollectiveKind::kAllToAll);
    ASSERT_EQ(collectives[0]->exchange, 1U);
    EXPECT_EQ(
        workload.graph.exchanges.at(0).bytes,
        (std::vector<std::uint64_t>{0, 202, 204, 400, 0, 404, 600, 602, 0}));
}

/// A peer outside of the communicator, or a communicator in which this rank's place is unknown: the
/// kernel holds its blocks, and nobody waits for it.
TEST_F(ReadCapturesTest, TransfersWithoutAPeerTakeTheirTime) {
    WrittenCapture capture(folder_.path(), 0, 2);
    capture.kernel(kSendReceive, 1'000, 2'000, 3'000, 20)
        .transfer("Send", 1'100, 10, UINT32_MAX)
        .end();
    const auto collectives = all<CollectiveOperation>(read({"rank0.sfcapture"}));
    ASSERT_EQ(collectives.size(), 1U);
    EXPECT_EQ(collectives[0]->kind, CollectiveKind::kSendReceive);
    EXPECT_TRUE(collectives[0]->holds_blocks);
    EXPECT_EQ(collectives[0]->given, Time(1'000'000));
}

TEST_F(ReadCapturesTest, MissingRanksOfACommunicatorAreSaid) {
    step(0, 2).end();
    const TraceWorkload workload = read({"rank0.sfcapture"});
    ASSERT_EQ(workload.files[0].warnings.size(), 1U);
    EXPECT_PRED_FORMAT2(
        ::testing::IsSubstring, "1 communicators have ranks whose captures are not given",
        workload.files[0].warnings[0]);
    EXPECT_EQ(workload.graph.groups[0].ranks.size(), 2U);
}

TEST_F(ReadCapturesTest, ASecondPassGivesBytes) {
    step(0, 1).end();
    WrittenCapture counters(folder_.path(), 0, 1, true);
    counters.counters("_Z4gemmPf", 0, 8192, 2048).end();
    const TraceWorkload workload = read({"rank0.sfcapture", "rank0.counters.sfcapture"});
    const auto kernels = all<KernelOperation>(workload);
    EXPECT_EQ(kernels[0]->byte_source, ByteSource::kCounters);
    EXPECT_EQ(kernels[0]->bytes_read, Bytes(8192));
    EXPECT_EQ(kernels[0]->bytes_written, Bytes(2048));
    EXPECT_NE(kernels[1]->byte_source, ByteSource::kCounters);
}

TEST_F(ReadCapturesTest, ASecondPassAloneIsSaid) {
    WrittenCapture(folder_.path(), 3, 4, true).end();
    EXPECT_PRED_FORMAT2(
        ::testing::IsSubstring, "expected rank 3's first pass with it",
        message({"rank3.counters.sfcapture"}));
}

TEST_F(ReadCapturesTest, AKilledProgramsCaptureIsReadAndItsLossSaid) {
    step(0, 1);
    const TraceWorkload workload = read({"rank0.sfcapture"});
    EXPECT_EQ(workload.files[0].kernels, 2U);
    EXPECT_PRED_FORMAT2(
        ::testing::IsSubstring, "did not end in order", workload.files[0].warnings.at(0));
}

TEST_F(ReadCapturesTest, ARankTwiceIsSaid) {
    step(0, 1).end();
    EXPECT_PRED_FORMAT2(
        ::testing::IsSubstring, "rank 0 is also", message({"rank0.sfcapture", "rank0.sfcapture"}));
}

TEST_F(ReadCapturesTest, ACaptureWithoutKernelsIsSaid) {
    WrittenCapture(folder_.path(), 0, 1).end();
    EXPECT_PRED_FORMAT2(
        ::testing::IsSubstring, "holds no GPU kernel", message({"rank0.sfcapture"}));
}

TEST_F(ReadCapturesTest, TheOwnFormatKeepsIt) {
    step(0, 2).end();
    step(1, 2).end();
    const TraceWorkload workload = read({"rank0.sfcapture", "rank1.sfcapture"});
    test_data::expect_same(workload, test_data::again(workload));
}

TEST_F(ReadCapturesTest, WhatTheReaderDoesNotUseIsCounted) {
    step(0, 1).add(Synchronization{}).add(EventRecord{}).end();
    const auto dropped = read({"rank0.sfcapture"}).files[0].dropped;
    EXPECT_EQ(dropped.at("synchronisation records (their calls are used)"), 1U);
    EXPECT_EQ(dropped.at("recorded events (their calls are used)"), 1U);
}

}  // namespace
}  // namespace switchfold::capture::read_captures_test
