// SPDX-License-Identifier: Apache-2.0
#include "models/coprocessor/gradient_sums.h"

#include "models/coprocessor/tests/processors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace switchfold::gradient_sums_test {
namespace {

/// Time of one line with one thread per core: 250 ns between cores and 16 additions of 25 cycles.
constexpr double kTurn = 650e-9;

ThreadLayout cores(std::uint32_t count, std::uint32_t threads = 1) {
    return layout_of(many_core_processor(), count, threads, 1);
}
double atomics(std::uint64_t elements, const ThreadLayout& layout) {
    return sum_seconds(offload::AtomicSum{elements}, many_core_processor(), layout);
}
/// So many copies at once; 0: as many as are fastest.
double copies(std::uint64_t elements, ThreadLayout layout, std::uint32_t at_once = 0) {
    layout.copies_at_once = at_once;
    return sum_seconds(offload::TreeSum{elements}, many_core_processor(), layout);
}

TEST(GradientSums, OneLineIsAddedByOneCoreAfterTheOther) {
    EXPECT_NEAR(atomics(16, cores(60)), 60 * kTurn, 1e-12);
    EXPECT_NEAR(atomics(1, cores(60)), 60 * kTurn, 1e-12);
}

TEST(GradientSums, ManyLinesTakeATurnEach) {
    EXPECT_NEAR(atomics(16 * 10'000, cores(60)), 10'000 * kTurn, 1e-9);
    EXPECT_NEAR(atomics(16 * 10'000, cores(60, 4)), 2'500 * kTurn, 1e-9);
}

TEST(GradientSums, OneCoreNeedsNoFlight) {
    EXPECT_NEAR(atomics(16 * 100, cores(1)), 100 * 400e-9, 1e-12);
    EXPECT_EQ(copies(16 * 100, cores(1)), 0);
}

TEST(GradientSums, SmallCopiesCostTheirBarriers) {
    // 60 cores sum in six levels of pairs. Each begins with a barrier of six levels up and six
    // down.
    const double barrier = 2 * 6 * 600e-9;
    EXPECT_NEAR(copies(16, cores(60), 2), 6 * barrier, 0.02 * 6 * barrier);
    EXPECT_NEAR(copies(16, cores(60), 8), 2 * barrier, 0.2 * barrier);
    EXPECT_NEAR(copies(16, cores(60), 60), barrier, 0.5 * barrier);
}

TEST(GradientSums, LargeCopiesMoveThreeBytesOfMemoryForEachByte) {
    // 59 additions of two copies, 12 B per element; one thread per core moves 30 lines in 640 ns.
    constexpr std::uint64_t kElements = 4'000'000;
    const double rate = 60 * 30 * 64 / 640e-9;
    EXPECT_NEAR(copies(kElements, cores(60), 2), 59 * 12.0 * kElements / rate, 0.02 * 16e-3);
}

TEST(GradientSums, AllCopiesAtOnceMoveABytePerByte) {
    // 60 copies are read and one is written; with 60 streams of a thread, a row opens for nearly
    // every line.
    constexpr std::uint64_t kElements = 4'000'000;
    const double line = 1.6e-9 + (1 - 128.0 / 3600) * 4e-9;
    EXPECT_NEAR(
        copies(kElements, cores(60), 60), 61 * 4.0 * kElements / (8 * 64 / line), 0.02 * 11e-3);
}

TEST(GradientSums, TheFastestTreeIsTaken) {
    for (const std::uint32_t threads : {1U, 4U})
        for (const std::uint64_t elements : {16U, 4'096U, 262'144U, 4'000'000U}) {
            const ThreadLayout layout = cores(60, threads);
            const double chosen = copies(elements, layout);
            double least = chosen;
            for (std::uint32_t at_once = 2; at_once <= 60; ++at_once)
                least = std::min(least, copies(elements, layout, at_once));
            // Of trees with as many levels, only the one that reads least at once is tried.
            EXPECT_LE(chosen, 1.1 * least) << threads << " " << elements;
            EXPECT_LE(chosen, copies(elements, layout, 2));
            EXPECT_LE(chosen, copies(elements, layout, 60));
        }
}

TEST(GradientSums, LargerTeamsHaveFewerCopies) {
    constexpr std::uint64_t kElements = 1'000'000;
    double before = copies(kElements, cores(60, 4));
    for (const std::uint32_t team : {2U, 4U, 10U, 30U}) {
        const double now = copies(kElements, layout_of(many_core_processor(), 60, 4, 1, team));
        EXPECT_LT(now, before) << team;
        before = now;
    }
    EXPECT_EQ(copies(kElements, layout_of(many_core_processor(), 60, 4, 1, 60)), 0);
}

TEST(GradientSums, AgainstPairsAtomicsWinWhereLayersAreSmallAndLoseWhereTheyAreLarge) {
    const ThreadLayout all = cores(60, 4);
    EXPECT_LT(atomics(1'000, all), copies(1'000, all, 2));
    EXPECT_GT(atomics(2'000'000, all), copies(2'000'000, all, 2));
    int crossings = 0;
    bool before = true;
    for (std::uint64_t elements = 1'000; elements < 4'000'000; elements += elements / 4) {
        const bool now = atomics(elements, all) < copies(elements, all, 2);
        crossings += now == before ? 0 : 1;
        before = now;
    }
    EXPECT_EQ(crossings, 1);
}

}  // namespace
}  // namespace switchfold::gradient_sums_test
