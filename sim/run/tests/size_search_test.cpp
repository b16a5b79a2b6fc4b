// SPDX-License-Identifier: Apache-2.0
#include "sim/run/workload/size_search.h"

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
        *rc::gen::inRange<std::uint64_t>(0, 200'000'000),
        std::exp2(*rc::gen::inRange(-1, 18)),
        *rc::gen::inRange<std::uint64_t>(0, 1 << 20)};
    const Bytes size(*rc::gen::inRange<std::uint64_t>(1, 1 << 24) * kGrain.count());
    const Time wanted = link.time(size);
    int trials = 0;
    const Bytes found = size_that_takes(wanted, kGrain, [&](Bytes bytes) {
        ++trials;
        RC_ASSERT(bytes.count() % kGrain.count() == 0U);
        RC_ASSERT(bytes >= kGrain);
        return link.time(bytes);
    });
    RC_ASSERT(trials <= 12);
    const auto goal = static_cast<double>(wanted.count());
    RC_ASSERT(std::abs(static_cast<double>(link.time(found).count()) - goal) <= 0.01 * goal);
}

TEST(SizeSearch, WhatNoSizeCanTakeIsTheLeast) {
    const Link link{10'000'000, 1.0, 0};
    EXPECT_EQ(
        size_that_takes(microseconds(3), kGrain, [&](Bytes bytes) { return link.time(bytes); }),
        kGrain);
}

/// Trials never exceed what the time could need by more than a step of growth: they are
/// simulations.
RC_GTEST_PROP(SizeSearch, TriesNothingMuchLarger, ()) {
    const Link link{
        *rc::gen::inRange<std::uint64_t>(0, 50'000'000), std::exp2(*rc::gen::inRange(2, 10)), 0};
    const Bytes size(*rc::gen::inRange<std::uint64_t>(64, 1 << 24) * kGrain.count());
    static_cast<void>(size_that_takes(link.time(size), kGrain, [&](Bytes bytes) {
        RC_ASSERT(bytes.count() <= 17 * size.count());
        return link.time(bytes);
    }));
}

}  // namespace
}  // namespace switchfold::size_search_test
