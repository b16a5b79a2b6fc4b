// SPDX-License-Identifier: Apache-2.0
#include "core/random_stream.h"

#include "core/error.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <string>

namespace switchfold::random_stream_test {
namespace {

/// Published results must be reproducible on every platform and in every later version.
TEST(RandomStream, TheSequenceIsFixedForAllTime) {
    RandomStream stream(1, "collective values");
    EXPECT_EQ(stream.next(), 0xA6EF88A746F4226CULL);
    EXPECT_EQ(stream.next(), 0xBFF425BCE957AD50ULL);
    EXPECT_EQ(RandomStream(0, "").next(), 0x96448C477389EE91ULL);
}

RC_GTEST_PROP(RandomStream, SeedAndNameDetermineIt, (std::uint64_t seed, const std::string& name)) {
    RandomStream a(seed, name);
    RandomStream b(seed, name);
    RandomStream other_seed(seed + 1, name);
    RandomStream other_name(seed, name + "x");
    for (int i = 0; i < 10; ++i) {
        const std::uint64_t value = a.next();
        RC_ASSERT(value == b.next());
        RC_ASSERT(value != other_seed.next());
        RC_ASSERT(value != other_name.next());
    }
}

RC_GTEST_PROP(RandomStream, StaysBelowItsBound, (std::uint64_t seed)) {
    RandomStream stream(seed, "bounds");
    const auto bound = *rc::gen::inRange<std::uint64_t>(1, UINT64_MAX);
    for (int i = 0; i < 20; ++i) {
        RC_ASSERT(stream.below(bound) < bound);
        const double share = stream.share();
        RC_ASSERT(share >= 0 && share < 1);
    }
}

/// A chi-square over ten bins exceeds 27.9 by chance for one seed in a thousand; this seed is
/// fixed.
TEST(RandomStream, IsUniform) {
    RandomStream stream(7, "uniform");
    constexpr int kDraws = 100'000;
    std::array<int, 10> bins{};
    std::array<int, 10> shares{};
    for (int i = 0; i < kDraws; ++i) {
        ++bins.at(stream.below(10));
        ++shares.at(static_cast<std::size_t>(stream.share() * 10));
    }
    for (const auto& counts : {bins, shares}) {
        double chi_square = 0;
        for (const int count : counts)
            chi_square += std::pow(count - kDraws / 10.0, 2) / (kDraws / 10.0);
        EXPECT_LT(chi_square, 27.9);
    }
}

TEST(RandomStream, NearbySeedsAndNamesShareNothing) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t seed = 0; seed < 100; ++seed)
        for (const char* name : {"a", "b", "ab", "ba"}) {
            RandomStream stream(seed, name);
            for (int i = 0; i < 10; ++i)
                seen.insert(stream.next());
        }
    EXPECT_EQ(seen.size(), 100U * 4U * 10U);
}

TEST(RandomStream, NothingIsBelowZero) {
    EXPECT_THROW(static_cast<void>(RandomStream(1, "x").below(0)), InternalError);
}

}  // namespace
}  // namespace switchfold::random_stream_test
