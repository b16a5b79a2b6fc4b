// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/block_draw.h"
#include "models/tests/gpu_bench.h"

#include <gtest/gtest.h>

namespace switchfold::gpu_beside_test {
namespace {

using gpu_test::a100;
using gpu_test::Bench;
using gpu_test::h100;
using gpu_test::kernel;

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

}  // namespace
}  // namespace switchfold::gpu_beside_test
