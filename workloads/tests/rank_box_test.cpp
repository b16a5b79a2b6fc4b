// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/rank_box.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace switchfold::rank_box_test {
namespace {

using Ranks = std::vector<std::uint32_t>;

TEST(RankBox, BlocksStridesAndProductsAreBoxes) {
    EXPECT_EQ(RankBox::of({0, 1})->around(5), (Ranks{4, 5}));
    EXPECT_EQ(RankBox::of({0, 2, 4, 6})->around(3), (Ranks{1, 3, 5, 7}));
    EXPECT_EQ(RankBox::of({2, 3, 10, 11})->around(4), (Ranks{4, 5, 12, 13}));
    EXPECT_EQ(RankBox::of({7})->around(3), Ranks{3});
}

TEST(RankBox, OtherGroupsAreNone) {
    EXPECT_FALSE(RankBox::of({0, 1, 5}).has_value());
    EXPECT_FALSE(RankBox::of({0, 3, 4, 6}).has_value());
    EXPECT_FALSE(RankBox::of({}).has_value());
    EXPECT_FALSE(RankBox::of({0, 6})->covers(8)) << "the first and the last of four stages of two";
    EXPECT_TRUE(RankBox::of({0, 4})->covers(8));
}

TEST(RankBox, WhatReachesTheEndGrowsWithTheRun) {
    EXPECT_EQ(RankBox::of({0, 1})->scaled(8, 16)->around(0), (Ranks{0, 1}));
    EXPECT_EQ(RankBox::of({0, 2, 4, 6})->scaled(8, 16)->around(1).size(), 8U);
    EXPECT_EQ(RankBox::of({0, 2, 4, 6})->scaled(8, 4)->around(1), (Ranks{1, 3}));
    EXPECT_EQ(RankBox::of({0, 2, 4, 6})->scaled(8, 2)->around(1), Ranks{1});
    EXPECT_FALSE(RankBox::of({0, 1})->scaled(8, 5).has_value());
}

TEST(RankBox, AListThatWasCutShortGoesOnAsItBegins) {
    EXPECT_EQ(continue_box({0, 8, 16}, 8, 64), (Ranks{0, 8, 16, 24, 32, 40, 48, 56}));
    EXPECT_EQ(continue_box({0, 1, 8, 9}, 8, 64), (Ranks{0, 1, 8, 9, 16, 17, 24, 25}));
    EXPECT_TRUE(continue_box({0, 8, 16}, 9, 64).empty()) << "beyond the world";
    EXPECT_TRUE(continue_box({0, 1, 8}, 5, 64).empty()) << "not a whole number of pairs";
}

/// A grid of parallelisms: any subset of its sides is a group, and its repetitions part the world.
RC_GTEST_PROP(RankBoxProperty, GroupsOfAGridPartTheWorld, ()) {
    const auto sides = *rc::gen::container<std::vector<std::uint32_t>>(
        *rc::gen::inRange<std::size_t>(1, 5), rc::gen::inRange<std::uint32_t>(1, 5));
    const std::uint32_t world =
        std::accumulate(sides.begin(), sides.end(), 1U, std::multiplies<>());
    const auto chosen =
        *rc::gen::container<std::vector<bool>>(sides.size(), rc::gen::arbitrary<bool>());
    const auto rank = *rc::gen::inRange<std::uint32_t>(0, world);
    const auto same = [&](std::uint32_t a, std::uint32_t b) {
        for (std::size_t i = 0; i < sides.size(); a /= sides[i], b /= sides[i], ++i)
            if (!chosen[i] && a % sides[i] != b % sides[i])
                return false;
        return true;
    };
    const auto group_of = [&](std::uint32_t one) {
        Ranks group;
        for (std::uint32_t other = 0; other < world; ++other)
            if (same(one, other))
                group.push_back(other);
        return group;
    };
    const auto box = RankBox::of(group_of(rank));
    RC_ASSERT(box.has_value());
    RC_ASSERT(box->covers(world));
    for (std::uint32_t other = 0; other < world; ++other)
        RC_ASSERT(box->around(other) == group_of(other));
}

}  // namespace
}  // namespace switchfold::rank_box_test
