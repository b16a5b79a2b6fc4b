// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/beside.h"

#include "core/first_ranks.h"
#include "sim/config/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

namespace switchfold::beside_test {
namespace {

SystemParams dgx_a100() {
    return load_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/dgx_a100.json", {});
}

/// A kernel of 100 us that draws two thirds of the HBM's peak bandwidth.
KernelOperation streaming(const SystemParams& system) {
    KernelOperation kernel;
    kernel.grid = {864, 1, 1};
    kernel.block = {256, 1, 1};
    kernel.registers_per_thread = 32;
    kernel.isolated = microseconds(100);
    const auto peak = static_cast<double>(system.gpu->memory.hbm.peak.count());
    kernel.bytes_read = Bytes(static_cast<std::uint64_t>(peak * 100e-6 * 2 / 3));
    return kernel;
}

/// Communication that lasts for the whole kernel.
CommunicationPhase phase(std::uint32_t blocks, double bytes_per_second) {
    CommunicationPhase p;
    p.from_us = -50;
    p.to_us = 1000;
    p.blocks = blocks;
    p.bytes_per_second = bytes_per_second;
    return p;
}

TEST(SimulateBeside, AloneAKernelTakesItsIsolatedTime) {
    const SystemParams system = dgx_a100();
    const KernelOperation kernel = streaming(system);
    EXPECT_EQ(simulate_beside(*system.gpu, kernel, {}), kernel.isolated);
    // Communication that starts after the kernel has ended does not slow it.
    CommunicationPhase late = phase(24, 1e12);
    late.from_us = 500;
    EXPECT_EQ(simulate_beside(*system.gpu, kernel, {late}), kernel.isolated);
}

TEST(SimulateBeside, MoreCommunicationIsNeverFaster) {
    const SystemParams system = dgx_a100();
    const KernelOperation kernel = streaming(system);
    Time before = kernel.isolated;
    for (const std::uint32_t blocks : {1U, 8U, 32U, 64U}) {
        const Time time = simulate_beside(*system.gpu, kernel, {phase(blocks, 0)});
        EXPECT_GE(time, before) << blocks;
        before = time;
    }
    EXPECT_GT(before, kernel.isolated);
    before = kernel.isolated;
    for (const double rate : {1e10, 2e11, 8e11}) {
        const Time time = simulate_beside(*system.gpu, kernel, {phase(0, rate)});
        EXPECT_GE(time, before) << rate;
        before = time;
    }
    EXPECT_GT(before, kernel.isolated);
}

TEST(SimulateBeside, APartOfTheTimeCostsAPartOfTheLoss) {
    const SystemParams system = dgx_a100();
    const KernelOperation kernel = streaming(system);
    CommunicationPhase half = phase(0, 8e11);
    half.to_us = 50;
    const Time with_half = simulate_beside(*system.gpu, kernel, {half});
    const Time with_all = simulate_beside(*system.gpu, kernel, {phase(0, 8e11)});
    EXPECT_GT(with_half, kernel.isolated);
    EXPECT_LT(with_half, with_all);
}

CollectiveOperation collective(CollectiveKind kind, std::uint64_t bytes) {
    CollectiveOperation operation;
    operation.kind = kind;
    operation.bytes = Bytes(bytes);
    operation.thread_blocks = 16;
    operation.protocol = "simple";
    return operation;
}

TEST(TrafficOf, ARingDrawsWhatItMovesThroughEachL2) {
    const SystemParams system = dgx_a100();
    constexpr std::uint64_t kBytes = 64U << 20U;
    const CollectiveTraffic traffic =
        traffic_of(system, collective(CollectiveKind::kAllReduce, kBytes), first_ranks(8));
    EXPECT_EQ(traffic.after_last, traffic.time);
    EXPECT_GT(traffic.footprint.count(), 0U);
    // A rank receives and sends 2 (n - 1) / n of the buffer. For each of these bytes it also
    // accesses its own buffer and a FIFO, so it draws between two and six times as much.
    const double drawn = traffic.bytes_per_second * to_seconds(traffic.time);
    const double moved = 2.0 * 7 / 8 * static_cast<double>(kBytes);
    EXPECT_GT(drawn, 2 * moved);
    EXPECT_LT(drawn, 6 * moved);
}

TEST(TrafficOf, TheLastRankOfAnExchangeFindsSomeOfItDone) {
    const CollectiveTraffic traffic =
        traffic_of(dgx_a100(), collective(CollectiveKind::kAllToAll, 64U << 20U), first_ranks(8));
    EXPECT_GT(traffic.after_last, Time());
    EXPECT_LE(traffic.after_last, traffic.time);
}

TEST(ProtocolByThreads, BlocksTellWhatNamesDoNot) {
    CollectiveOperation operation = collective(CollectiveKind::kAllReduce, 1024);
    for (const auto& [threads, protocol] : std::initializer_list<std::pair<unsigned, const char*>>{
             {512U, "ll"}, {544U, "simple"}, {640U, "ll128"}}) {
        operation.threads_per_block = threads;
        EXPECT_EQ(protocol_by_threads(operation), protocol);
    }
    operation.threads_per_block = 96;
    operation.protocol = "ll";
    EXPECT_EQ(protocol_by_threads(operation), "ll");
    operation.kind = CollectiveKind::kAllToAll;
    EXPECT_EQ(protocol_by_threads(operation), "simple");
}

}  // namespace
}  // namespace switchfold::beside_test
