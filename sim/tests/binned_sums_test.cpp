// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/binned_sums.h"

#include <gtest/gtest.h>

namespace switchfold::binned_sums_test {
namespace {

double total(const BinnedSums& sums, std::size_t row, std::size_t bins) {
    double sum = 0;
    for (std::size_t i = 0; i < bins; ++i)
        sum += sums.at(row, i);
    return sum;
}

TEST(BinnedSums, AnAmountIsSpreadOverItsTime) {
    BinnedSums sums(2, 4, nanoseconds(10));
    sums.add(1, nanoseconds(5), nanoseconds(25), 100);
    EXPECT_DOUBLE_EQ(sums.at(1, 0), 25);
    EXPECT_DOUBLE_EQ(sums.at(1, 1), 50);
    EXPECT_DOUBLE_EQ(sums.at(1, 2), 25);
    EXPECT_DOUBLE_EQ(total(sums, 0, 4), 0);
}

TEST(BinnedSums, BinsDoubleUntilTheTimeFitsAndKeepTheirSums) {
    BinnedSums sums(2, 4, nanoseconds(10));
    for (std::uint64_t i = 0; i < 4; ++i) {
        sums.add(0, nanoseconds(10 * i), nanoseconds(10 * (i + 1)), static_cast<double>(i + 1));
        sums.add(1, nanoseconds(10 * i), nanoseconds(10 * (i + 1)), 10);
    }
    EXPECT_EQ(sums.bin(), nanoseconds(10));
    sums.add(0, nanoseconds(40), nanoseconds(100), 60);
    EXPECT_EQ(sums.bin(), nanoseconds(40));
    EXPECT_DOUBLE_EQ(sums.at(0, 0), 10);
    EXPECT_DOUBLE_EQ(sums.at(0, 1), 40);
    EXPECT_DOUBLE_EQ(sums.at(0, 2), 20);
    EXPECT_DOUBLE_EQ(sums.at(1, 0), 40);
    EXPECT_DOUBLE_EQ(total(sums, 0, 4), 70);
}

TEST(BinnedSums, WhatTakesNoTimeIsInOneBin) {
    BinnedSums sums(1, 4, nanoseconds(10));
    sums.add(0, nanoseconds(40), nanoseconds(40), 7);
    EXPECT_DOUBLE_EQ(sums.at(0, 3), 7);
}

}  // namespace
}  // namespace switchfold::binned_sums_test
