// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/trace/size_search.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>

namespace switchfold::size_search_test {
namespace {

constexpr Bytes kGrain(128);

/// A latency, then bandwidth; short transfers travel in another way that is slower by bytes.
struct Link {
    std::uint64_t latency_ps;
    double ps_a_byte;
    std::uint64_t short_bytes;
    [[nodiscard]] Time time(Bytes bytes) const {
        const auto all = static_cast<double>(bytes.count());
        const double slow = std::min(all, static_cast<double>(short_bytes));
        return Time(latency_ps + static_cast<std::uint64_t>((all + slow) * ps_a_byte));
    }
};

RC_GTEST_PROP(SizeSearch, FindsTheSizeOfAnyLinkInFewTrials, ()) {
    const Link link{
        *rc::gen::inRange<std::uint64_t>(0, 200'000'000), std::exp2(*rc::gen::inRange(-1, 18)),
        *rc::gen::inRange<std::uint64_t>(0, 1 << 20)};
    const Bytes size(*rc::gen::inRange<std::uint64_t>(1, 1 << 24) * kGrain.count());
    const Time wanted = link.time(size);
    int trials = 0;
    SizeSearch search(kGrain, [&](Bytes bytes) {
        ++trials;
        RC_ASSERT(bytes.count() % kGrain.count() == 0U);
        RC_ASSERT(bytes >= kGrain);
        return link.time(bytes);
    });
    const SizeSearch::Found found = search.find(wanted);
    RC_ASSERT(trials <= 12);
    RC_ASSERT(found.time == link.time(found.size));
    RC_ASSERT(SizeSearch::near(found.time, wanted));
    // What was tried out is known.
    const int before = trials;
    RC_ASSERT(search.find(wanted) == found);
    RC_ASSERT(trials == before);
}

TEST(SizeSearch, WhatNoSizeCanTakeIsTheLeast) {
    const Link link{10'000'000, 1.0, 0};
    SizeSearch search(kGrain, [&](Bytes bytes) { return link.time(bytes); });
    EXPECT_EQ(search.find(microseconds(3)).size, kGrain);
    EXPECT_FALSE(search.find(microseconds(3)).taken);
}

/// Trials never exceed what the time could need by more than a step of growth: they are
/// simulations.
RC_GTEST_PROP(SizeSearch, TriesNothingMuchLarger, ()) {
    const Link link{
        *rc::gen::inRange<std::uint64_t>(0, 50'000'000), std::exp2(*rc::gen::inRange(2, 10)), 0};
    const Bytes size(*rc::gen::inRange<std::uint64_t>(64, 1 << 24) * kGrain.count());
    SizeSearch search(kGrain, [&](Bytes bytes) {
        RC_ASSERT(bytes.count() <= 17 * size.count());
        return link.time(bytes);
    });
    static_cast<void>(search.find(link.time(size)));
}

/// Where another protocol begins, times jump: up, and no size takes those between, or down, and two
/// sizes take some.
RC_GTEST_PROP(SizeSearch, FindsWhatATimeThatJumpsCanTake, ()) {
    const std::uint64_t jump_at = *rc::gen::inRange<std::uint64_t>(100, 1 << 20);
    const auto latency = *rc::gen::inRange<std::uint64_t>(0, 40'000'000);
    const auto time = [&](Bytes bytes) {
        const std::uint64_t grains = bytes.count() / kGrain.count();
        return Time(20'000'000 + grains * 1000 + (grains >= jump_at ? latency : 0));
    };
    const Time wanted = Time(*rc::gen::inRange<std::uint64_t>(22'000'000, 2'000'000'000));
    SizeSearch search(kGrain, time);
    const SizeSearch::Found found = search.find(wanted);
    const Time last = time(Bytes((jump_at - 1) * kGrain.count()));
    const Time next = time(Bytes(jump_at * kGrain.count()));
    const bool between = wanted > last && wanted < next && !SizeSearch::near(last, wanted) &&
                         !SizeSearch::near(next, wanted);
    RC_ASSERT(SizeSearch::near(found.time, wanted) || between);
    // Between two sizes the nearer one is taken, if it is near enough.
    RC_ASSERT(
        found.taken ==
        SizeSearch::near(found.time, wanted, between ? SizeSearch::kJump : SizeSearch::kNear));
}

/// The searches of many times share what they try out.
TEST(SizeSearch, ManyTimesTakeFewTrialsEach) {
    int trials = 0;
    const Link link{5'000'000, 3.0, 1 << 16};
    SizeSearch search(kGrain, [&](Bytes bytes) {
        ++trials;
        return link.time(bytes);
    });
    for (std::uint64_t us = 100; us < 300; ++us)
        EXPECT_TRUE(SizeSearch::near(search.find(microseconds(us)).time, microseconds(us)));
    EXPECT_LT(trials, 200);
}

}  // namespace
}  // namespace switchfold::size_search_test
