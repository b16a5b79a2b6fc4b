// SPDX-License-Identifier: Apache-2.0
#include "models/coprocessor/gradient_sums.h"

#include "models/coprocessor/tests/processors.h"

#include <gtest/gtest.h>

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
double copies(std::uint64_t elements, const ThreadLayout& layout) {
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
    // 60 cores sum in six levels. Each level ends with a barrier of six levels up and six down.
    const double barriers = 6 * 2 * 6 * 600e-9;
    EXPECT_NEAR(copies(16, cores(60)), barriers, 0.02 * barriers);
}

TEST(GradientSums, LargeCopiesMoveThreeBytesOfMemoryForEachByte) {
    // 59 additions of two copies, 12 B per element; one thread per core moves 30 lines in 640 ns.
    constexpr std::uint64_t kElements = 4'000'000;
    const double rate = 60 * 30 * 64 / 640e-9;
    EXPECT_NEAR(copies(kElements, cores(60)), 59 * 12.0 * kElements / rate, 0.02 * 16e-3);
}

TEST(GradientSums, AtomicsWinWhereLayersAreSmallAndLoseWhereTheyAreLarge) {
    const ThreadLayout all = cores(60, 4);
    EXPECT_LT(atomics(1'000, all), copies(1'000, all));
    EXPECT_GT(atomics(2'000'000, all), copies(2'000'000, all));
    int crossings = 0;
    bool before = true;
    for (std::uint64_t elements = 1'000; elements < 4'000'000; elements += elements / 4) {
        const bool now = atomics(elements, all) < copies(elements, all);
        crossings += now == before ? 0 : 1;
        before = now;
    }
    EXPECT_EQ(crossings, 1);
}

}  // namespace
}  // namespace switchfold::gradient_sums_test
