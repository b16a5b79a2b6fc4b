// SPDX-License-Identifier: Apache-2.0
#include "training/learning/replicas/gradient_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace switchfold::learning::gradient_sums_test {
namespace {

std::vector<Vector> parts() {
    Vector a(3);
    a << 0.5, -1.25, 3;
    Vector b(3);
    b << 0.25, 0.5, -8;
    Vector c(3);
    c << 1, 1, 1;
    return {a, b, c};
}

void to_whole(std::span<float> numbers) {
    for (float& number : numbers)
        number = std::nearbyint(number);
}

TEST(GradientSums, AreExactWhereNothingRounds) {
    GradientSums sums;
    EXPECT_TRUE(sums.exact());
    sums.replicas = 3;
    const Vector sum = rounded_sum(sums, parts());
    EXPECT_EQ(sum[0], 1.75);
    EXPECT_EQ(sum[1], 0.25);
    EXPECT_EQ(sum[2], -4);
}

TEST(GradientSums, RoundWhatIsSentWhatIsAddedOrTheSum) {
    GradientSums sums;
    sums.received = to_whole;
    EXPECT_FALSE(sums.exact());
    EXPECT_EQ(rounded_sum(sums, parts())[0], 2);  // of 1.75
    sums = {};
    sums.sent = to_whole;
    EXPECT_EQ(rounded_sum(sums, parts())[0], 1);  // 0 + 0 + 1, ties to even
    EXPECT_EQ(rounded_sum(sums, parts())[1], 0);  // -1 + 0 + 1
    sums = {};
    int additions = 0;
    sums.added = [&](std::span<float> numbers) {
        ++additions;
        to_whole(numbers);
    };
    EXPECT_EQ(rounded_sum(sums, parts())[0], 2);  // 0.75 -> 1, 2
    EXPECT_EQ(additions, 2);
}

}  // namespace
}  // namespace switchfold::learning::gradient_sums_test
