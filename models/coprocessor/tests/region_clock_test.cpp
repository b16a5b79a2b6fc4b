// SPDX-License-Identifier: Apache-2.0
#include "models/coprocessor/region_clock.h"

#include <gtest/gtest.h>

namespace switchfold::region_clock_test {
namespace {

SharedRates rates(double memory, double ring = 1e18) {
    return {[memory](double /*streams*/) { return memory; }, ring};
}

TEST(RegionClock, CoresThatShareNothingTakeTheirOwnTime) {
    EXPECT_DOUBLE_EQ(
        region_seconds({{3, {{2.0, 0, 0, 0}}}, {1, {{1.0, 0, 0, 0}, {1.5, 0, 0, 0}}}}, rates(1)),
        2.5);
}

TEST(RegionClock, MemoryIsSharedUntilTheFirstIsDone) {
    // Two cores each demand 10 B/s of a memory with 10 B/s. The short one finishes its 10 bytes at
    // 2 s. The long one then has 10 of its 30 bytes and gets the memory to itself.
    const double end =
        region_seconds({{1, {{1.0, 10, 10, 1}}}, {1, {{3.0, 30, 30, 1}}}}, rates(10));
    EXPECT_DOUBLE_EQ(end, 4.0);
}

TEST(RegionClock, BytesOverTheRateBoundTheTime) {
    EXPECT_DOUBLE_EQ(region_seconds({{4, {{1.0, 100, 100, 1}}}}, rates(50)), 8.0);
    EXPECT_DOUBLE_EQ(region_seconds({{4, {{1.0, 1, 100, 1}}}}, rates(1e9, 200)), 2.0);
}

TEST(RegionClock, StreamsOfCoresThatAreDoneCountNoMore) {
    const SharedRates few{[](double streams) { return streams > 4 ? 1.0 : 10.0; }, 1e18};
    // Eight streams share 1 B/s until four cores finish at 8 s. Four streams then share 10 B/s.
    const double end = region_seconds({{4, {{0.1, 1, 1, 1}}}, {4, {{0.2, 2, 2, 1}}}}, few);
    EXPECT_NEAR(end, 8.0 + 0.4, 1e-9);
}

TEST(RegionClock, NothingTakesNoTime) {
    EXPECT_EQ(region_seconds({}, rates(1)), 0);
    EXPECT_EQ(region_seconds({{2, {{0, 0, 0, 0}}}}, rates(1)), 0);
}

}  // namespace
}  // namespace switchfold::region_clock_test
