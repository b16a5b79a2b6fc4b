// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/gpu.h"

#include "core/kernel/simulation.h"
#include "models/gpu/block_draw.h"
#include "models/memory/sharing.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <ostream>

namespace switchfold::gpu_test {

/// Prints a launch in RapidCheck's counterexamples.
void showValue(const KernelLaunch& k, std::ostream& os) {
    os << k.blocks << " blocks of " << k.shape.threads << " threads, "
       << k.shape.shared_memory.count() << " B shared, isolated " << k.isolated.count() << " ps, "
       << k.read.count() << " B";
}

namespace {

GpuParams h100() {
    GpuParams p;
    p.name = "H100";
    p.sms = 132;
    p.sm.shared_memory = kibibytes(228);
    p.memory.hbm.peak = gigabytes_per_second(3350);
    p.memory.hbm.channels = 80;
    p.memory.l2.capacity = mebibytes(50);
    p.memory.l2.bandwidth = gigabytes_per_second(6950);
    p.draw_per_thread = Bandwidth(13'000'000);
    return p;
}

GpuParams a100() {
    GpuParams p;
    p.name = "A100";
    p.sm.reserved_shared_memory = kibibytes(1);
    for (const std::uint64_t kib : {0, 8, 16, 32, 64, 100, 132, 164})
        p.sm.carveouts.push_back(kibibytes(kib));
    p.memory.hbm.latency = nanoseconds(220);
    p.memory.l2.latency = nanoseconds(145);
    return p;
}

/// One GPU that runs kernels in sequence or concurrently, with communication blocks and packet
/// traffic.
struct Bench : KernelListener, BlocksListener, EventHandler {
    explicit Bench(const GpuParams& params, const Contention& contention = {}) :
        gpu("gpu", params, contention, simulation.scheduler()) {}

    void on_kernel_end(std::uint32_t id) override {
        ended[id] = simulation.scheduler().now();
        if (--running == 0 && holding)
            gpu.retire_resident(ticket);
    }
    void on_blocks_resident(std::uint64_t) override { resident = simulation.scheduler().now(); }
    /// Event 0 moves `packet_bytes` through memory every 500 ns while kernels run. Any other value
    /// is a number of communication blocks to launch.
    void on_event(std::uint64_t later) override {
        if (later != 0) {
            hold(static_cast<std::uint32_t>(later));
            if (after)
                launch(*after);
            return;
        }
        if (running == 0 || packet_bytes == 0)
            return;
        gpu.memory().access(packet_bytes / 2, packet_bytes / 2);
        simulation.scheduler().after(nanoseconds(500), *this, 0);
    }
    void launch(const KernelLaunch& kernel) {
        ++running;
        gpu.launch(kernel, *this);
    }
    void hold(std::uint32_t blocks) {
        holding = true;
        ticket = gpu.launch_resident(
            {544, 96, Bytes(88'016)}, blocks, priority, Bytes(0), *this, exchange);
    }
    void hold_at(Time when, std::uint32_t blocks) {
        simulation.scheduler().at(when, *this, blocks);
    }
    Time run(const KernelLaunch& kernel, std::uint32_t blocks = 0, std::uint64_t packets = 0) {
        if (blocks > 0)
            hold(blocks);
        packet_bytes = packets;
        if (packets > 0)
            gpu.memory().add_footprint(mebibytes(8));
        launch(kernel);
        if (packets > 0)
            simulation.scheduler().at(Time(), *this, 0);
        simulation.run();
        return ended.at(kernel.id);
    }

    Simulation simulation;
    Gpu gpu;
    std::map<std::uint32_t, Time> ended;
    Time resident = kTimeMax;
    std::uint64_t ticket = 0;
    std::uint64_t packet_bytes = 0;
    int running = 0;
    bool holding = false;
    bool exchange = false;
    std::int32_t priority = 0;          ///< of the communication blocks
    std::optional<KernelLaunch> after;  ///< launched after the communication blocks
};

KernelLaunch kernel(
    std::uint64_t blocks, std::uint32_t threads, std::uint32_t shared_kib, Time isolated,
    Bytes bytes) {
    KernelLaunch k;
    k.id = 1;
    k.shape = {threads, 32, kibibytes(shared_kib)};
    k.blocks = blocks;
    k.isolated = isolated;
    k.read = bytes;
    return k;
}

rc::Gen<KernelLaunch> any_kernel() {
    return rc::gen::map(
        rc::gen::tuple(
            rc::gen::inRange<std::uint64_t>(1, 20'000), rc::gen::inRange(1U, 1025U),
            rc::gen::inRange(0U, 200U), rc::gen::inRange<std::uint64_t>(1'000'000, 500'000'000),
            rc::gen::inRange<std::uint64_t>(0, 1'000'000'000), rc::gen::inRange(-50, 101)),
        [](const auto& t) {
            KernelLaunch launch = kernel(
                std::get<0>(t), std::get<1>(t), std::get<2>(t), Time(std::get<3>(t)),
                Bytes(std::get<4>(t)));
            launch.l2_share = std::max(-1.0F, static_cast<float>(std::get<5>(t)) / 100.0F);
            return launch;
        });
}

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

/// Slowdown beside `blocks` communication blocks with the shared memory size of NCCL 2.17.
double slowdown_beside(const KernelLaunch& k, std::uint32_t blocks) {
    return static_cast<double>(Bench(a100()).run(k, blocks).count()) /
           static_cast<double>(k.isolated.count());
}

TEST(Gpu, AKernelWithALargerCarveoutLosesTheNeighboursOfCommunicationToo) {
    // hta_ddp_a100_2r, with 8 communication blocks: 100 blocks of 120 KiB (one per SM) took 1.61
    // times as long. 96 and 192 blocks of 72 KiB (one per SM due to registers) did not slow down.
    KernelLaunch large = kernel(100, 128, 120, microseconds(43), Bytes(0));
    EXPECT_GT(slowdown_beside(large, 8), 1.5);
    KernelLaunch small = kernel(96, 256, 72, microseconds(51), Bytes(0));
    small.shape.registers_per_thread = 229;
    EXPECT_DOUBLE_EQ(slowdown_beside(small, 8), 1.0);
    // If an SM does not share its carveout with another, 100 SMs are free.
    GpuParams loose = a100();
    loose.sm.sharing_carveout = 1;
    EXPECT_EQ(Bench(loose).run(large, 8), microseconds(43));
}

TEST(Gpu, ALoneBlockIsFasterThanTwoThatShareAnSm) {
    // hta_ddp_a100_2r: 208 blocks, two per SM, took 1.37 times as long beside 8 communication
    // blocks.
    KernelLaunch k = kernel(208, 128, 64, microseconds(36), Bytes(0));
    k.shape.registers_per_thread = 240;
    const double slowdown = slowdown_beside(k, 8);
    EXPECT_GT(slowdown, 1.3);
    EXPECT_LT(slowdown, 1.6);
}

TEST(Gpu, ACompletionWaitsInProportionToTheTraffic) {
    // One block computes; nothing but its completion meets the traffic.
    KernelLaunch tiny = kernel(1, 128, 0, microseconds(400), Bytes(0));
    const auto waits = [&](GpuParams params, std::uint64_t packets) {
        return to_microseconds(Bench(params).run(tiny, 0, packets)) - 400;
    };
    GpuParams params = a100();
    params.completion_wait = microseconds(48);
    // Packets of 500 ns, as a share of what the HBM carries. Half of them reach it.
    Bench idle(params);
    const double full = idle.gpu.memory().hbm_bandwidth() * 500e-9;
    for (const double load : {0.25, 0.5, 0.75})
        EXPECT_NEAR(waits(params, static_cast<std::uint64_t>(load * full)), 24 * load, 1) << load;
    // A larger L2 does not wait longer, and one that the buffers do not fit does.
    const auto half = static_cast<std::uint64_t>(0.5 * full);
    const double wait = waits(params, half);
    for (const std::uint64_t mib : {100, 1024}) {
        params.memory.l2.capacity = mebibytes(mib);
        EXPECT_NEAR(waits(params, half), wait, 1) << mib;
    }
    params.memory.l2.capacity = mebibytes(6);
    EXPECT_GT(waits(params, half), wait + 2);
    params.completion_wait = Time();
    EXPECT_NEAR(waits(params, half), 0, 1e-3);
}

// Communication that ends ends the wait: what is left of it is gone at once.
TEST(Gpu, ACompletionWaitsNoLongerThanThereIsTraffic) {
    GpuParams params = a100();
    params.completion_wait = microseconds(1000);
    Bench bench(params);
    bench.packet_bytes = 350'000;
    bench.launch(kernel(1, 128, 0, microseconds(20), Bytes(0)));
    bench.simulation.scheduler().at(Time(), bench, 0);
    struct Stop final : EventHandler {
        explicit Stop(Bench& of) : bench(of) {}
        void on_event(std::uint64_t) override { bench.packet_bytes = 0; }
        Bench& bench;
    } stop(bench);
    bench.simulation.scheduler().at(microseconds(40), stop, 0);
    bench.simulation.run();
    EXPECT_GT(bench.ended.at(1), microseconds(40));
    EXPECT_LT(bench.ended.at(1), microseconds(50));
}

// Buffers of 8 MiB in a cache of 2: most of communication's bytes reach the HBM, and that they do
// is the cache's doing.
TEST(Gpu, WhatCommunicationMissesInASmallL2IsTheL2s) {
    const KernelLaunch stream = kernel(4000, 512, 0, microseconds(1000), Bytes(2'900'000'000ULL));
    GpuParams params = h100();
    params.memory.l2.capacity = mebibytes(2);
    Contention off;
    off.l2 = false;
    const double small = to_microseconds(Bench(params).run(stream, 0, 300'000));
    EXPECT_LT(to_microseconds(Bench(params, off).run(stream, 0, 300'000)), 0.95 * small);
    params.memory.l2.capacity = mebibytes(32);
    const double fits = to_microseconds(Bench(params).run(stream, 0, 300'000));
    EXPECT_NEAR(to_microseconds(Bench(params, off).run(stream, 0, 300'000)) / fits, 1, 0.01);
}

// What a kernel loses beside traffic falls with the L2's capacity, or stays.
TEST(Gpu, ALargerL2NeverCostsAKernelMore) {
    const KernelLaunch kernels[] = {
        kernel(1, 128, 0, microseconds(3), Bytes(1000)),
        kernel(1056, 256, 0, microseconds(20), Bytes(20'000'000)),
        kernel(264, 384, 200, microseconds(400), Bytes(100'000'000)),
        kernel(4000, 512, 0, microseconds(1000), Bytes(2'900'000'000))};
    for (const KernelLaunch& k : kernels) {
        GpuParams params = h100();
        Time before(kTimeMax.count() / 2);
        for (const std::uint64_t mib : {10, 25, 50, 100, 1024}) {
            params.memory.l2.capacity = mebibytes(mib);
            const Time beside = Bench(params).run(k, 8, 300'000);
            EXPECT_GT(beside, k.isolated);
            EXPECT_LE(to_microseconds(beside), 1.01 * to_microseconds(before))
                << to_string(k.isolated) << " with " << mib << " MiB";
            before = beside;
        }
    }
}

TEST(Gpu, AKernelOfOneBlockWaitsForTheTrafficOfATransfer) {
    // hta_dlrm_a100_8r: kernels of one block take 3 us alone, 14 to 22 beside an all-reduce.
    const KernelLaunch tiny = kernel(1, 128, 0, microseconds(3), Bytes(1000));
    Bench bench(a100());
    bench.gpu.memory().add_footprint(mebibytes(100));
    const double us = to_microseconds(bench.run(tiny, 24, 350'000));
    EXPECT_GT(us, 10.0);
    EXPECT_LT(us, 22.0);
    Contention off;
    off.completion = false;
    EXPECT_LT(to_microseconds(Bench(a100(), off).run(tiny, 24, 350'000)), 3.5);
    EXPECT_EQ(Bench(a100()).run(tiny, 24), microseconds(3));  // blocks that wait do not slow it
}

TEST(Gpu, AWaitingExchangeDelaysCompletions) {
    const KernelLaunch tiny = kernel(1, 128, 0, microseconds(3), Bytes(1000));
    Bench bench(a100());
    bench.exchange = true;
    // hta_dlrm_a100_8r: 1.8 us longer, which is about five accesses to an idle memory.
    EXPECT_EQ(bench.run(tiny, 8), nanoseconds(3000 + 5 * 365));
    GpuParams slower = a100();
    slower.memory.hbm.latency = nanoseconds(1220);
    Bench far(slower);
    far.exchange = true;
    EXPECT_EQ(far.run(tiny, 8), nanoseconds(3000 + 5 * 1365));
    EXPECT_EQ(Bench(slower).run(tiny, 8), microseconds(3)) << "an all-reduce that waits";
}

TEST(Gpu, WithoutSlotsTakenCommunicationStillWaitsForThem) {
    // `off.sm` turns off the effect on kernels; communication still waits for free SMs.
    Contention off;
    off.sm = false;
    Bench bench(h100(), off);
    bench.priority = -1;
    bench.launch(kernel(264, 1024, 200, microseconds(100), Bytes(0)));
    bench.hold_at(microseconds(10), 24);
    bench.simulation.run();
    EXPECT_EQ(bench.resident, microseconds(51));
    EXPECT_EQ(bench.ended.at(1), microseconds(100));
}

TEST(Gpu, ASlowerClockSlowsWhatComputes) {
    GpuParams p = a100();
    p.clock_drop = 0.2;
    const KernelLaunch k = kernel(1080, 1024, 100, microseconds(1000), Bytes(0));
    EXPECT_GT(Bench(p).run(k, 0, 350'000), Bench(a100()).run(k, 0, 350'000));
    EXPECT_EQ(Bench(p).run(k), microseconds(1000));
}

TEST(SmArray, NeighboursKeepACarveoutWhileOneIsBusy) {
    SmArray array(a100().sm, 108);
    const BlockShape communication{544, 96, Bytes(87'568)};
    const BlockShape larger{128, 192, kibibytes(120)};
    const BlockShape same{256, 229, kibibytes(72)};
    const Placement held = array.place(communication, 8);
    const Placement some = array.place(larger, 1000);
    EXPECT_EQ(some.blocks, 92U);
    array.release(larger, some);
    const Placement fitting = array.place(same, 1000);
    EXPECT_EQ(fitting.blocks, 100U);
    array.release(same, fitting);
    array.release(communication, held);
    EXPECT_EQ(array.place(larger, 1000).blocks, 108U);
}

TEST(SmArray, PlacesBreadthFirstAndKeepsLimits) {
    SmArray array(h100().sm, 132);
    const BlockShape shape{256, 64, kibibytes(40)};
    EXPECT_EQ(array.limit(shape), 4U);  // 64 registers x 256 threads: 4 fit in 65,536
    const Placement some = array.place(shape, 140);
    EXPECT_EQ(some.blocks, 140U);
    EXPECT_EQ(some.on_sm[0], 2U);
    EXPECT_EQ(some.on_sm[131], 1U);
    const Placement rest = array.place(shape, 10'000);
    EXPECT_EQ(rest.blocks, 4U * 132 - 140);
    EXPECT_EQ(array.place(shape, 1).blocks, 0U);
    array.release(shape, some);
    array.release(shape, rest);
    EXPECT_EQ(array.busy_sms(), 0U);
    EXPECT_EQ(array.limit({1024, 255, Bytes(0)}), 0U);  // too many registers for one SM
}

RC_GTEST_PROP(MaxMin, ConservesAndIsFair, ()) {
    const auto demands = *rc::gen::container<std::vector<double>>(
        rc::gen::map(rc::gen::inRange(0, 1000), [](int v) { return static_cast<double>(v); }));
    const double capacity = *rc::gen::inRange(1, 2000);
    std::vector<double> shares;
    max_min_share(capacity, demands, shares);
    double sum = 0;
    double wanted = 0;
    double least_cut = 1e300;
    for (std::size_t i = 0; i < demands.size(); ++i) {
        RC_ASSERT(shares[i] <= demands[i] + 1e-9);
        sum += shares[i];
        wanted += demands[i];
        if (shares[i] < demands[i] - 1e-9)
            least_cut = std::min(least_cut, shares[i]);
    }
    RC_ASSERT(sum <= capacity + 1e-6);
    RC_ASSERT(sum >= std::min(capacity, wanted) - 1e-6);
    for (const double share : shares)  // no share exceeds one that was cut
        RC_ASSERT(share <= least_cut + 1e-6);
}

TEST(HbmTiming, ReachesTheMeasuredShareOfPeak) {
    HbmParams a100;  // RRZE gpu-stream, A100 40 GB: 1382 of 1555 GB/s for reads and writes
    a100.row_cycle = nanoseconds(47);
    a100.turnaround = nanoseconds(20);
    EXPECT_NEAR(achievable_bytes_per_second(a100, 0.5) / 1382e9, 1.0, 0.02);
    EXPECT_NEAR(achievable_bytes_per_second(a100, 0.0) / 1500e9, 1.0, 0.02);
    HbmParams few = a100;
    few.banks = 1;
    EXPECT_LT(achievable_bytes_per_second(few, 0.0), achievable_bytes_per_second(a100, 0.0));
}

TEST(Roofline, IsOneAlone) {
    for (const double hbm : {0.0, 0.3, 0.9, 1.0, 5.0})
        for (const double l2 : {0.0, 0.5, 1.0}) {
            const Roofline roofline = make_roofline({hbm, l2}, 4);
            EXPECT_EQ(wave_stretch(roofline, {}), 1.0);
            EXPECT_NEAR(wave_stretch(roofline, {1, 1 + 1e-12, 1}), 1.0, 1e-9);
            EXPECT_GE(wave_stretch(roofline, {1, 2, 1}), 1.0);
        }
}

TEST(ResidentBlocks, ThatLeaveGiveTheirSmsBack) {
    Bench bench(h100());
    bench.hold(100);
    bench.simulation.run();
    EXPECT_EQ(bench.gpu.busy_sms(), 100U);
    bench.gpu.shrink_resident(bench.ticket, 40);
    EXPECT_EQ(bench.gpu.busy_sms(), 40U);
    bench.gpu.shrink_resident(bench.ticket, 4);
    EXPECT_EQ(bench.gpu.busy_sms(), 4U);
    bench.gpu.shrink_resident(bench.ticket, 4);
    EXPECT_EQ(bench.gpu.busy_sms(), 4U);
    bench.gpu.retire_resident(bench.ticket);
    EXPECT_EQ(bench.gpu.busy_sms(), 0U);
}

}  // namespace
}  // namespace switchfold::gpu_test
