// SPDX-License-Identifier: Apache-2.0
#include "models/coprocessor/processor.h"

#include "models/coprocessor/memory_rate.h"
#include "models/coprocessor/tests/processors.h"
#include "models/coprocessor/work_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace switchfold::processor_test {
namespace {

using offload::ElementLoop;
using offload::LibraryProduct;
using offload::Phase;
using offload::ProductLoop;

RegionTime time_of(
    const offload::Work& work, std::uint32_t threads, std::uint32_t nested = 1,
    std::uint32_t cores = 60) {
    const ProcessorParams params = many_core_processor();
    return Processor(params, layout_of(params, cores, threads, nested))
        .run({"region", Phase::kForward, {work}});
}

/// Compute-bound: 32 rows per core, neurons for all threads and SIMD lanes, little to read.
ProductLoop much_arithmetic() {
    ProductLoop loop;
    loop.rows = 60 * 32;
    loop.width = 4 * 16 * 16;
    loop.depth = 1024;
    loop.shared_bytes = 4096;
    loop.row_bytes = 64;
    return loop;
}

/// Issue slots of a step over so many rows: blocks of 30 rows, each with two besides its
/// multiply-adds.
double slots(double rows) {
    return rows + 2 * std::ceil(rows / 30);
}

double stream_rate(std::uint32_t threads, std::uint64_t arrays) {
    constexpr std::uint64_t kElements = 128'000'000;
    const ElementLoop loop{kElements, 4 * (arrays - 1), 4, arrays, 1, false, false};
    return static_cast<double>(kElements * 4 * arrays) / time_of(loop, threads).work;
}

TEST(Processor, FullArithmeticRateNeedsTwoThreadsACore) {
    const ProcessorParams params = many_core_processor();
    const double peak = 60 * 2 * 16 * 1e9;
    EXPECT_DOUBLE_EQ(peak_flops(params, layout_of(params, 60, 1, 1)), peak / 2);
    EXPECT_DOUBLE_EQ(peak_flops(params, layout_of(params, 60, 2, 1)), peak);
    EXPECT_DOUBLE_EQ(peak_flops(params, layout_of(params, 60, 4, 1)), peak);
    const double flops = 2.0 * 60 * 32 * 1024 * 1024;
    // The 32 rows are two blocks, of which each step has two slots besides its multiply-adds.
    EXPECT_NEAR(time_of(much_arithmetic(), 1).work, flops / (peak / 2) * 36 / 32, 1e-9);
    EXPECT_NEAR(time_of(much_arithmetic(), 2).work, flops / peak * 36 / 32, 1e-9);
    EXPECT_NEAR(time_of(much_arithmetic(), 4).work, flops / peak * 36 / 32, 1e-9);
}

TEST(Processor, LoadsWithPortsOfTheirOwnLeaveThePeak) {
    ProcessorParams params = many_core_processor();
    params.step_slots = 0;
    const double peak = 60 * 2 * 16 * 1e9;
    const double flops = 2.0 * 60 * 32 * 1024 * 1024;
    const Processor processor(params, layout_of(params, 60, 2, 1));
    EXPECT_NEAR(
        processor.run({"region", Phase::kForward, {much_arithmetic()}}).work, flops / peak, 1e-9);
}

TEST(Processor, RowsThatFillNoBlockShareTheirLoadsAmongFewer) {
    const auto slots_of_row = [](std::uint64_t rows) {
        ProductLoop loop = much_arithmetic();
        loop.rows = 60 * rows;
        return time_of(loop, 2).work / static_cast<double>(rows) / 65'536e-9;
    };
    for (const std::uint64_t rows : {1U, 30U, 31U, 60U, 67U})
        EXPECT_NEAR(
            slots_of_row(rows), slots(static_cast<double>(rows)) / static_cast<double>(rows), 1e-6)
            << rows;
    EXPECT_NEAR(slots_of_row(30), 32.0 / 30, 1e-6);
    EXPECT_NEAR(slots_of_row(67), 73.0 / 67, 1e-6);
}

TEST(Processor, SigmoidsTakeTheProcessorsSlots) {
    ProductLoop loop = much_arithmetic();
    const double without = time_of(loop, 2).work;
    loop.sigmoid = true;
    // 64 vectors of results for each of 32 rows.
    EXPECT_NEAR(time_of(loop, 2).work - without, 32 * 64 * 5 * 1e-9, 1e-12);
    ElementLoop pass{60 * 16 * 100, 0, 0, 1, 4, false, false};
    const double four = time_of(pass, 2).work;
    pass.operations = 0;
    pass.sigmoid = true;
    EXPECT_NEAR(time_of(pass, 2).work / four, 5.0 / 4, 1e-9);
}

TEST(Processor, LanesThatAreLeftOverAreLost) {
    ProductLoop loop = much_arithmetic();
    loop.width = 32;
    const double two = time_of(loop, 2).work;
    loop.width = 17;
    EXPECT_DOUBLE_EQ(time_of(loop, 2).work, two);
}

TEST(Processor, CoresWithARowMoreAreWaitedFor) {
    ProductLoop loop = much_arithmetic();
    const double even = time_of(loop, 2).work;
    loop.rows += 1;
    EXPECT_NEAR(time_of(loop, 2).work / even, slots(33) / slots(32), 0.001);
    loop.rows = 10;
    EXPECT_GT(time_of(loop, 2).work, even / 32);
}

TEST(Processor, MoreThreadsAreNeverSlowerUpToTwo) {
    for (const std::uint64_t width : {64U, 500U, 1000U, 4096U})
        for (const std::uint64_t rows : {60U, 600U, 6000U}) {
            ProductLoop loop = much_arithmetic();
            loop.width = width;
            loop.rows = rows;
            loop.shared_bytes = width * 4096;
            loop.row_bytes = (width + 1024) * 4;
            EXPECT_LE(time_of(loop, 2).work, time_of(loop, 1).work) << width << " " << rows;
        }
}

TEST(Processor, MemoryFollowsLittlesLawWithOneThreadACore) {
    EXPECT_NEAR(stream_rate(1, 2), 60 * 30 * 64 / 640e-9, 1e9);
    EXPECT_NEAR(stream_rate(1, 3), 60 * 30 * 64 / 640e-9, 1e9);
}

TEST(Processor, MemoryLosesRateWithMoreStreamsThanBanks) {
    EXPECT_LT(stream_rate(2, 2), 0.95 * stream_rate(1, 2));
    EXPECT_LT(stream_rate(4, 2), stream_rate(2, 2));
    const ProcessorParams params = many_core_processor();
    EXPECT_DOUBLE_EQ(memory_rate(params, 128), 320e9);
    // Half of the lines open a row: 1.6 ns + 2 ns per line on each of eight channels.
    EXPECT_NEAR(memory_rate(params, 256), 8 * 64 / 3.6e-9, 1e6);
}

TEST(Processor, WeightsComeOverTheRingOnceForAllRowsThatFit) {
    // 4 MB of weights and one row per core: hardly any compute, and every core reads all weights.
    ProductLoop loop;
    loop.rows = 60;
    loop.width = 1024;
    loop.depth = 1024;
    loop.shared_bytes = 4U << 20U;
    loop.row_bytes = 8192;
    const double ring = 60.0 * (4U << 20U) / (8 * 64 * 1e9);
    EXPECT_NEAR(time_of(loop, 4).work, ring, 0.35 * ring);
    EXPECT_GE(time_of(loop, 4).work, ring);
    const double one = time_of(loop, 4).work;
    loop.rows = 240;
    EXPECT_LT(time_of(loop, 4).work, 1.1 * one);
    // Rows that do not fit in the cache with the weights make the core read the weights again.
    loop.row_bytes = 262'144;
    EXPECT_GT(time_of(loop, 4).work, 3.5 * one);
}

TEST(Processor, RegionsCostTheirForkAndBarrier) {
    const ElementLoop nothing{60, 4, 4, 2, 1, false, false};
    EXPECT_NEAR(time_of(nothing, 4).begin_and_end, 3 * 8 * 600e-9, 1e-12);
    EXPECT_NEAR(time_of(nothing, 1).begin_and_end, 3 * 6 * 600e-9, 1e-12);
    EXPECT_EQ(time_of(nothing, 1, 1, 1).begin_and_end, 0);
}

TEST(Processor, NestedRegionsDipMostWhereThreadsAreTooMany) {
    const ProductLoop loop = much_arithmetic();
    const double two_level = time_of(loop, 4).total();
    const double nested = time_of(loop, 1, 4).total();
    const double oversubscribed = time_of(loop, 4, 4).total();
    EXPECT_GT(nested, two_level);
    EXPECT_GT(oversubscribed, nested);
    // Eight rows per thread. Each row costs a fork and a barrier of four threads and, twice, the
    // turns of the three other threads on the same hardware thread.
    const double each = 3 * 2 * 600e-9 + 2 * 3 * 10e-6;
    EXPECT_GT(oversubscribed, 8 * each);
}

TEST(Processor, LibraryProductsWaitForWholeTiles) {
    // 60 tiles: one per core.
    const double one = time_of(LibraryProduct{1200, 192, 4096}, 4).work;
    const double two = time_of(LibraryProduct{1200, 193, 4096}, 4).work;
    const double tile = 120.0 * 2 * 4096 / 0.9e9;
    EXPECT_NEAR(two - one, tile, 0.1 * tile);
    EXPECT_GT(one, tile);
}

TEST(Processor, ATeamOfSeveralCoresDividesNeuronsInsteadOfRows) {
    const ProcessorParams params = many_core_processor();
    const auto time = [&](const ProductLoop& loop, std::uint32_t team) {
        return Processor(params, layout_of(params, 60, 4, 1, team))
            .run({"region", Phase::kForward, {loop}})
            .work;
    };
    // 1,024 neurons fill the lanes of up to 16 threads, those of four cores, evenly.
    const auto slots_of_team = [](std::uint32_t cores) { return slots(32 * cores) / cores; };
    const double alone = time(much_arithmetic(), 1) / slots_of_team(1);
    EXPECT_NEAR(time(much_arithmetic(), 4) / slots_of_team(4), alone, 0.05 * alone);
    // 64 neurons are four vectors, which four cores have one of: three of their threads idle, and
    // one issues every other cycle.
    ProductLoop narrow = much_arithmetic();
    narrow.width = 64;
    const double one = time(narrow, 1) / slots_of_team(1);
    EXPECT_NEAR(time(narrow, 2) / slots_of_team(2), one, 0.05 * one);
    EXPECT_NEAR(time(narrow, 4) / slots_of_team(4), 2 * one, 0.05 * one);
    // A row a core leaves 20 of 60 cores idle with 40 rows; teams of three use 60.
    ProductLoop few = much_arithmetic();
    few.width = 3 * 4 * 16 * 16;
    few.rows = 20;
    EXPECT_LT(time(few, 3), 0.5 * time(few, 1));
}

TEST(Processor, CoresOfATeamReadItsRowsFromEachOther) {
    const ProcessorParams params = many_core_processor();
    ProductLoop loop;
    loop.rows = 60 * 16;
    loop.width = 1024;
    loop.depth = 1;
    loop.row_bytes = 16'384;
    const auto time = [&](std::uint32_t team) {
        return Processor(params, layout_of(params, 60, 4, 1, team))
            .run({"region", Phase::kForward, {loop}})
            .work;
    };
    // 16 rows of 16 KiB lie in the core's own cache; those of a team of four come over the ring.
    const double ring = 60 * 64 * 16'384.0 * 3 / 4 / (8 * 64 * 1e9);
    EXPECT_GE(time(4), ring);
    EXPECT_LT(time(1), 0.2 * ring);
}

TEST(Processor, LayoutsCountTeams) {
    const ProcessorParams params = many_core_processor();
    const ThreadLayout plain = layout_of(params, 60, 4, 1);
    EXPECT_EQ(plain.teams(), 60U);
    EXPECT_EQ(plain.threads(), 240U);
    const ThreadLayout shared = layout_of(params, 59, 4, 1, 6);
    EXPECT_EQ(shared.teams(), 9U);
    EXPECT_EQ(shared.cores, 54U);
    EXPECT_EQ(shared.threads_of_team, 24U);
    EXPECT_EQ(shared.threads_of_core(), 4U);
    const ThreadLayout nested = layout_of(params, 60, 2, 4);
    EXPECT_EQ(nested.teams(), 120U);
    EXPECT_EQ(nested.threads_of_team, 2U);
    EXPECT_EQ(nested.oversubscribed, 2U);
    EXPECT_EQ(tree_levels(1), 0U);
    EXPECT_EQ(tree_levels(60), 6U);
    EXPECT_EQ(tree_levels(64), 6U);
    EXPECT_EQ(tree_levels(65), 7U);
}

}  // namespace
}  // namespace switchfold::processor_test
