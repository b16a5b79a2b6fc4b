// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/gpu.h"

#include "models/gpu/block_draw.h"
#include "models/tests/gpu_bench.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>

namespace switchfold::gpu_test {
namespace {

RC_GTEST_PROP(GpuProperty, AloneAKernelTakesItsIsolatedDuration, ()) {
    const KernelLaunch k = *any_kernel();
    Bench bench(h100());
    const Time took = bench.run(k);
    const double error =
        static_cast<double>(took.count()) / static_cast<double>(k.isolated.count()) - 1;
    RC_ASSERT(std::abs(error) < 1e-4);
}

// Bandwidth shares are updated once per window, so a difference of one window is not a slowdown.
Time slack(const KernelLaunch& k) {
    return microseconds(3) + k.isolated / 100;
}

RC_GTEST_PROP(GpuProperty, FewerCommunicationBlocksNeverSlowAKernelThatComputes, ()) {
    KernelLaunch k = *any_kernel();
    k.read = Bytes(0);
    const std::uint32_t blocks = *rc::gen::inRange(1U, 33U);
    const Time slow = Bench(h100()).run(k, blocks);
    const Time faster = Bench(h100()).run(k, blocks / 2);
    RC_ASSERT(faster <= slow + nanoseconds(1));
    RC_ASSERT(k.isolated <= faster + nanoseconds(1));
}

RC_GTEST_PROP(GpuProperty, WithCarveoutsTooFewerCommunicationBlocksNeverSlowAKernel, ()) {
    KernelLaunch k = *any_kernel();
    k.shape.shared_memory = Bytes(k.shape.shared_memory.count() * 160 / 200);
    const std::uint32_t blocks = *rc::gen::inRange(1U, 33U);
    const Time slow = Bench(a100()).run(k, blocks);
    const Time faster = Bench(a100()).run(k, blocks / 2);
    RC_ASSERT(faster <= slow + nanoseconds(1));
    RC_ASSERT(k.isolated <= faster + nanoseconds(1));
}

// If memory takes nearly all of a wave's time, the last wave's share of a kernel is hard to find.
TEST(Gpu, HoweverBlocksPartIntoAsManyWavesTheyTakeTheSame) {
    for (const std::uint64_t blocks : {217U, 218U, 230U, 300U}) {
        KernelLaunch k = kernel(blocks, 1, 0, Time(2'170'098), Bytes(308'717));
        k.shape.shared_memory = Bytes(55'705);  // two per SM, 216 slots in all
        const Time took = Bench(a100()).run(k, 1);
        EXPECT_NEAR(to_microseconds(took), 2.170098, 1e-5) << blocks;
    }
}

RC_GTEST_PROP(GpuProperty, MoreHbmNeverSlowsAKernelBesideTheSamePackets, ()) {
    // Both runs use the same kernel; its isolated duration is that on the smaller memory.
    const KernelLaunch k = *any_kernel();
    const std::uint64_t packets = *rc::gen::inRange<std::uint64_t>(1, 800'000);
    GpuParams wide = h100();
    wide.memory.hbm.peak = wide.memory.hbm.peak * 2;
    wide.memory.hbm.channels *= 2;
    const Time slow = Bench(h100()).run(k, 0, packets);
    const Time faster = Bench(wide).run(k, 0, packets);
    RC_ASSERT(faster <= slow + slack(k));
}

RC_GTEST_PROP(GpuProperty, FewerPacketsNeverSlowAKernel, ()) {
    const KernelLaunch k = *any_kernel();
    const std::uint32_t blocks = *rc::gen::inRange(0U, 33U);
    const std::uint64_t packets = *rc::gen::inRange<std::uint64_t>(1, 800'000);
    const Time slow = Bench(h100()).run(k, blocks, packets);
    const Time faster = Bench(h100()).run(k, blocks, packets / 2);
    RC_LOG() << to_microseconds(slow) << " us, with half the packets " << to_microseconds(faster);
    RC_ASSERT(faster <= slow + slack(k));
    RC_ASSERT(k.isolated <= faster + slack(k));
}

TEST(Gpu, AGemmOfOneWaveBesideACollectiveTakesTwo) {
    // NVIDIA forum 337991: 132 blocks that each fill an SM, with 24 communication blocks on the
    // same 132 SMs.
    const KernelLaunch gemm = kernel(132, 384, 200, microseconds(100), Bytes(0));
    EXPECT_EQ(Bench(h100()).run(gemm), microseconds(100));
    const Time beside = Bench(h100()).run(gemm, 24);
    EXPECT_NEAR(to_microseconds(beside), 200.0, 10.0);
    Contention off;
    off.sm = false;
    EXPECT_EQ(Bench(h100(), off).run(gemm, 24), microseconds(100));
}

GpuParams h100_power_limited() {
    GpuParams params = h100();
    params.power_drop = 0.25;
    return params;
}

TEST(Gpu, WithAPowerLimitTheSecondWaveOfFewBlocksIsFaster) {
    // Waves of 108 and 24 blocks: 0.75 / (1 - 0.25 x 108 / 132) and 0.75 / (1 - 0.25 x 24 / 132).
    const KernelLaunch gemm = kernel(132, 384, 200, microseconds(100), Bytes(0));
    EXPECT_EQ(Bench(h100_power_limited()).run(gemm), microseconds(100));
    const double waves = 0.75 / (1 - 0.25 * 108 / 132) + 0.75 / (1 - 0.25 * 24 / 132);
    const Time beside = Bench(h100_power_limited()).run(gemm, 24);
    EXPECT_NEAR(to_microseconds(beside), 2.0 + 98.0 * waves, 0.5);
    Contention off;
    off.clock = false;
    EXPECT_EQ(Bench(h100_power_limited(), off).run(gemm, 24), Bench(h100()).run(gemm, 24));
}

// With communication blocks, a full wave and a wave of one block may become two partial waves.
// Partial waves run at a higher clock, so the kernel can get faster, but only by the clock's gain.
RC_GTEST_PROP(GpuProperty, WithAPowerLimitAKernelAloneTakesItsIsolatedDuration, ()) {
    const KernelLaunch k = *any_kernel();
    const double alone = to_microseconds(Bench(h100_power_limited()).run(k));
    RC_ASSERT(std::abs(alone / to_microseconds(k.isolated) - 1) < 1e-4);
    const std::uint32_t blocks = *rc::gen::inRange(1U, 33U);
    const Time beside = Bench(h100_power_limited()).run(k, blocks);
    RC_ASSERT(to_microseconds(beside) > 0.75 * alone);
}

TEST(Gpu, AMemoryBoundKernelSharesTheHbm) {
    // A stream at full bandwidth, with packets that demand half of it.
    const Bytes bytes(2'900'000'000ULL);
    const KernelLaunch stream = kernel(4000, 512, 0, microseconds(1000), bytes);
    const Time beside = Bench(h100()).run(stream, 0, 800'000);
    EXPECT_GT(to_microseconds(beside), 1300.0);
    Contention off;
    off.hbm = false;
    off.latency = false;
    off.completion = false;
    EXPECT_NEAR(to_microseconds(Bench(h100(), off).run(stream, 0, 800'000)), 1000.0, 1.0);
    // A kernel that demands a tenth of the bandwidth barely slows down.
    const KernelLaunch light = kernel(4000, 512, 0, microseconds(1000), Bytes(290'000'000ULL));
    EXPECT_LT(to_microseconds(Bench(h100()).run(light, 0, 800'000)), 1050.0);
}

/// Kernels that were cut when this one ran alone.
std::uint64_t cut(const KernelLaunch& launch) {
    Bench bench(h100());
    bench.run(launch);
    return bench.gpu.statistics().clipped_kernels;
}

TEST(Gpu, AModelledKernelIsCutOnlyIfItsMissesExceedTheMemory) {
    // Eight blocks whose threads need more loads in flight than usual.
    KernelLaunch small = kernel(8, 128, 0, microseconds(4), Bytes(256'000));
    EXPECT_EQ(cut(small), 1U);
    small.l2_share = 0;
    EXPECT_EQ(cut(small), 0U);
    // 20 MB in 5 us are more than the HBM moves, and less than the L2 does.
    KernelLaunch cached = kernel(4000, 256, 0, microseconds(7), Bytes(20'000'000));
    cached.l2_share = 0;
    EXPECT_EQ(cut(cached), 1U);
    cached.l2_share = 0.9F;
    EXPECT_EQ(cut(cached), 0U);
    // Reads alone turn no bus around.
    const double reads = achievable_bytes_per_second(h100().memory.hbm, 0);
    KernelLaunch stream = kernel(
        4000, 512, 0, microseconds(1002), Bytes(static_cast<std::uint64_t>(reads * 0.995e-3)));
    EXPECT_EQ(cut(stream), 1U);
    stream.l2_share = 0;
    EXPECT_EQ(cut(stream), 0U);
    stream.written = stream.read;
    EXPECT_EQ(cut(stream), 1U);
}

TEST(Gpu, WhatAKernelFindsInTheL2LeavesTheHbmToOthers) {
    // Copies into shared memory keep enough on their way: no latency counts.
    KernelLaunch stream = kernel(4000, 512, 64, microseconds(100), Bytes(250'000'000));
    stream.l2_share = 0;
    const Time from_hbm = Bench(h100()).run(stream, 0, 800'000);
    stream.l2_share = 0.9F;
    const Time from_l2 = Bench(h100()).run(stream, 0, 800'000);
    EXPECT_GT(to_microseconds(from_hbm), to_microseconds(from_l2) + 5);
}

// hta_dlrm_v100_2r: a copy by 320 blocks of 512 threads, four an SM, is one wave. Beside two
// communication blocks a few of its blocks come later, and it takes 1.1 times as long.
TEST(Gpu, BlocksThatAlsoStoreDrawMoreInALastWave) {
    GpuParams v100 = h100();
    v100.sms = 80;
    v100.memory.hbm.peak = gigabytes_per_second(897);
    v100.memory.hbm.channels = 32;
    v100.memory.l2.capacity = mebibytes(6);
    v100.memory.l2.bandwidth = gigabytes_per_second(3133);
    v100.draw_per_thread = Bandwidth(8'000'000);
    const auto slowdown = [&](std::uint64_t read, std::uint64_t written, std::uint32_t blocks) {
        KernelLaunch k = kernel(320, 512, 0, microseconds(1000), Bytes(read));
        k.written = Bytes(written);
        return to_microseconds(Bench(v100).run(k, blocks)) / 1000;
    };
    EXPECT_NEAR(slowdown(1'000'000'000, 0, 0), 1, 1e-4);
    EXPECT_NEAR(slowdown(500'000'000, 500'000'000, 0), 1, 1e-4);
    // All that the memory carries: a block that comes later draws what its threads can.
    const double reads = slowdown(1'000'000'000, 0, 2);
    const double copies = slowdown(500'000'000, 500'000'000, 2);
    EXPECT_GT(reads, 1.5);
    EXPECT_LT(copies, reads - 0.2);
    // Stores beyond the loads draw no more.
    EXPECT_NEAR(slowdown(200'000'000, 800'000'000, 2), copies, 1e-3);
}

// What is in flight is drawn once a latency: slower answers slow the threads whose rate was stated
// for faster ones.
TEST(Gpu, ThreadsDrawTheirBytesInFlightOnceALatency) {
    GpuParams gpu = h100();
    const BlockShape block{256, 32, Bytes(0)};
    const auto draw = [&](std::uint64_t hbm_ns) {
        gpu.memory.hbm.latency = nanoseconds(hbm_ns);
        return draw_of_block(block, mebibytes(1), Bytes(0), gpu);
    };
    gpu.memory.l2.latency = nanoseconds(141);
    EXPECT_DOUBLE_EQ(draw(309), 256 * 13e6);
    EXPECT_DOUBLE_EQ(draw(759), 256 * 13e6) << "no latency stated";
    gpu.draw_latency = nanoseconds(450);
    EXPECT_DOUBLE_EQ(draw(309), 256 * 13e6);
    EXPECT_DOUBLE_EQ(draw(759), 256 * 6.5e6);
}

// hta_dlrm_v100_2r: kernels of 3 to 8 us that were launched one by one take 14 us longer beside
// traffic, those inside a CUDA graph mostly as long as alone.
TEST(Gpu, InsideACudaGraphACompletionWaitsForNoTraffic) {
    KernelLaunch k = kernel(1, 128, 0, microseconds(5), Bytes(0));
    constexpr std::uint64_t kPackets = 300'000;
    const Time one_by_one = Bench(a100()).run(k, 8, kPackets);
    EXPECT_GT(one_by_one, microseconds(8));
    k.inside_cuda_graph = true;
    EXPECT_NEAR(to_microseconds(Bench(a100()).run(k, 8, kPackets)), 5, 1e-3);
    Bench exchange(a100());
    exchange.exchange = true;
    EXPECT_NEAR(to_microseconds(exchange.run(k, 8)), 5, 1e-3);
}

TEST(Gpu, UrgentCommunicationGetsInBetweenTwoWaves) {
    Bench bench(h100());
    bench.priority = -1;
    bench.launch(kernel(264, 1024, 200, microseconds(100), Bytes(0)));
    bench.hold_at(microseconds(10), 24);
    bench.simulation.run();
    // The first of two waves ends here; they follow an overhead of 2 us.
    EXPECT_EQ(bench.resident, microseconds(51));
}

/// Streams of equal priority place their thread blocks in launch order.
TEST(Gpu, CommunicationWaitsUntilTheLastBlocksOfAnEarlierKernelAreOnTheGpu) {
    Bench alone(h100());
    // Three waves; the last has 36 blocks and leaves room for communication.
    const KernelLaunch first = kernel(300, 1024, 200, microseconds(100), Bytes(0));
    const Time end = alone.run(first);
    Bench bench(h100());
    bench.launch(first);
    bench.hold_at(microseconds(10), 24);
    bench.simulation.run();
    EXPECT_GT(bench.resident, microseconds(60));
    EXPECT_LT(bench.resident, end);
    EXPECT_EQ(bench.ended.at(1), end);  // communication does not slow it
}

TEST(Gpu, ALaterKernelComesAfterCommunicationThatWaits) {
    Bench bench(h100());
    const KernelLaunch first = kernel(264, 1024, 200, microseconds(100), Bytes(0));
    bench.after = first;
    bench.after->id = 2;
    bench.launch(first);
    bench.hold_at(microseconds(10), 24);
    bench.simulation.run();
    EXPECT_EQ(bench.resident, microseconds(100));
    EXPECT_GT(bench.ended.at(2), microseconds(240));  // three waves on at most 108 SMs
}

TEST(Gpu, KernelsOfTwoStreamsRunTogetherWhereTheyFit) {
    Bench bench(h100());
    KernelLaunch one = kernel(60, 1024, 100, microseconds(100), Bytes(0));
    KernelLaunch two = one;
    two.id = 2;
    bench.launch(one);
    bench.launch(two);
    bench.simulation.run();
    EXPECT_EQ(bench.ended.at(1), microseconds(100));
    EXPECT_EQ(bench.ended.at(2), microseconds(100));
}

}  // namespace
}  // namespace switchfold::gpu_test
