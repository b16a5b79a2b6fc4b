// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch/in_switch_steps.h"
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>

namespace switchfold::switch_stages_test {
namespace {

/// One channel, so that sizes of tens of MiB are enough for full chunks.
CollectiveParams one_channel(Bytes chunk) {
    CollectiveParams params = TestMachine::params();
    params.in_switch_channels = 1;
    params.in_switch_chunk = params.in_switch_tree_chunk = chunk;
    return params;
}

double microseconds_of(
    const CollectiveParams& params, Bytes bytes,
    const Topology& topology = TestMachine::cluster(2, 4),
    Algorithm algorithm = Algorithm::kInSwitchTree) {
    TestMachine machine(topology, params, {algorithm, Protocol::kSimple, 0, false});
    CollectiveOperation operation;
    operation.bytes = bytes;
    const CollectiveRecord record = machine.run(operation);
    EXPECT_EQ(machine.ended, 8U);
    return to_microseconds(record.end - record.start);
}

TEST(StageWarps, AreNcclsShares) {
    const CollectiveParams params = TestMachine::params();  // 20 warps
    const StageWarps root = stage_warps(params, StageRole::kTreeRoot, 16);
    EXPECT_EQ(root.scatter_workers, 7U);  // 8 warps, one of which posts
    EXPECT_EQ(root.gather_workers, 7U);
    EXPECT_EQ(root.reduce_window, 4U * 2048);
    const StageWarps node = stage_warps(params, StageRole::kTreeNode, 16);
    EXPECT_EQ(node.scatter_workers, 5U);
    EXPECT_EQ(node.gather_workers, 5U);
    EXPECT_EQ(node.reduce_window, 4U * 2048);
    EXPECT_EQ(node.spread_window, 3U * 2048);
    EXPECT_EQ(stage_warps(params, StageRole::kReduceScatter, 8).reduce_window, 12U * 2048);
    EXPECT_EQ(stage_warps(params, StageRole::kAllGather, 8).spread_window, 11U * 2048);
    EXPECT_EQ(stage_warps(params, StageRole::kTreeRoot, 6).reduce_window, 6U * 2048);
}

TEST(StageWarps, OfRegisteredBuffersDoNotCopy) {
    const CollectiveParams params = TestMachine::params();  // 20 warps, of which two post and wait
    const StageWarps root = stage_warps(params, StageRole::kTreeRoot, 16, true);
    EXPECT_EQ(root.reduce_window, 17U * 2048);  // 18 warps, one of which posts
    EXPECT_EQ(root.scatter_workers, 1U);
    EXPECT_EQ(root.gather_workers, 1U);
    const StageWarps node = stage_warps(params, StageRole::kTreeNode, 16, true);
    EXPECT_EQ(node.reduce_window, 9U * 2048);
    EXPECT_EQ(node.spread_window, 7U * 2048);
    EXPECT_EQ(node.scatter_workers, 1U);
}

TEST(SwitchStages, LargeChunksDoNotDependOnTheTransferUnit) {
    CollectiveParams params = one_channel(kibibytes(512));
    const Bytes bytes = mebibytes(128);  // 64 loops of 512 KiB for each of four heads
    params.transfer_unit = kibibytes(4);
    const double usual = microseconds_of(params, bytes);
    params.transfer_unit = kibibytes(2);
    EXPECT_NEAR(microseconds_of(params, bytes) / usual, 1.0, 0.02);
    params.transfer_unit = kibibytes(16);
    EXPECT_NEAR(microseconds_of(params, bytes) / usual, 1.0, 0.02);
}

TEST(SwitchStages, LargeChunksCarryAsMuch) {
    // A larger chunk costs only the time to fill the pipeline, once.
    const Bytes few = mebibytes(64);
    const Bytes many = mebibytes(128);
    const auto rate = [&](Bytes chunk) {
        const CollectiveParams params = one_channel(chunk);
        return 64.0 / (microseconds_of(params, many) - microseconds_of(params, few));
    };
    EXPECT_GT(rate(kibibytes(256)), 0.95 * rate(kibibytes(64)));
}

TEST(SwitchStages, GroupsOfWarpsThatCopyShareTheirSm) {
    CollectiveParams params;
    params.in_switch_copy_round = nanoseconds(600);
    params.in_switch_copy_rate = gigabytes_per_second(40);
    const std::uint64_t rounds = 3;
    const std::uint64_t bytes = rounds * 5 * kWarpCopy;
    const auto moved = [&](std::uint32_t warps) {
        return serialization_time(Bytes(warps * kWarpCopy), params.in_switch_copy_rate);
    };
    EXPECT_EQ(copy_time(params, 5, 5, bytes), (nanoseconds(600) + moved(5)) * rounds);
    EXPECT_EQ(copy_time(params, 5, 10, bytes), (nanoseconds(600) + moved(10)) * rounds);
}

TEST(SwitchStages, TheLastRoundOfAPieceHasOnlyTheWarpsThatItNeeds) {
    CollectiveParams params;
    params.in_switch_copy_round = nanoseconds(600);
    params.in_switch_copy_rate = gigabytes_per_second(40);
    const auto round = [&](std::uint32_t warps) {
        return copy_round_time(params, Bytes(warps * kWarpCopy));
    };
    // Eight parts of 4 KiB for seven warps, beside six of another group.
    EXPECT_EQ(copy_time(params, 7, 13, 8 * kWarpCopy), round(13) + round(7));
    EXPECT_EQ(copy_time(params, 7, 7, 3 * kWarpCopy), round(3));
    EXPECT_EQ(copy_time(params, 7, 7, 3 * kWarpCopy + 1), round(4));
    EXPECT_EQ(copy_time(params, 7, 7, 0), Time(0));
}

TEST(SwitchStages, EveryLoopOfCopiesWaitsAndPostsOnce) {
    // Copies set the pace of one channel; a loop has one piece for each of eight heads.
    constexpr std::uint64_t kLoops = 6;
    const Bytes bytes = kibibytes(32) * 8 * kLoops;
    const auto time = [&](Time overhead) {
        CollectiveParams params = one_channel(kibibytes(32));
        params.in_switch_copy_round = nanoseconds(2000);
        params.simple.slice_overhead = overhead;
        return microseconds_of(params, bytes, TestMachine::hgx(8).build(), Algorithm::kInSwitch);
    };
    // The first is scattered, each is gathered.
    const double more = time(nanoseconds(5000)) - time(Time(0));
    EXPECT_GT(more, 5.0 * kLoops);
    EXPECT_LT(more, 5.0 * (kLoops + 2));
}

TEST(SwitchStages, AChunkPassesEveryStageWhole) {
    // One loop: scatter, reduce, send, reduce again and store, send back, store, gather.
    const CollectiveParams params = one_channel(kibibytes(32));
    const std::uint64_t chunk = 32 << 10;
    const double whole = microseconds_of(params, Bytes(4 * chunk));
    const StageWarps node = stage_warps(params, StageRole::kTreeNode, 8);
    double least = 0;
    for (const std::uint32_t workers : {node.scatter_workers, node.gather_workers})
        least += 4 * to_microseconds(copy_time(params, workers, workers, chunk));
    // Two reductions: each window takes a round trip to the switch and on to the members.
    const double rounds = static_cast<double>(chunk) / node.reduce_window;
    least += 2 * rounds * 4 * 0.52;
    least += 2 * static_cast<double>(chunk) / 50e3;  // the network, there and back
    least += static_cast<double>(chunk) / (static_cast<double>(node.spread_rate.count()) / 1e6);
    EXPECT_GT(whole, least);
    EXPECT_LT(whole, least + 80);  // launch, hand-overs, latencies
}

}  // namespace
}  // namespace switchfold::switch_stages_test
