// SPDX-License-Identifier: Apache-2.0
#include "sim/uncertainty/exposed_chains.h"

#include <gtest/gtest.h>

namespace switchfold::exposed_chains_test {
namespace {

Communication running(std::uint64_t start, std::uint64_t end, std::size_t kind = 0) {
    Communication one;
    one.resident = {start, end};
    one.since = start;
    one.kind = kind;
    return one;
}

std::vector<ExposedChain>
chains(std::vector<Communication> rank, const std::vector<Interval>& busy) {
    ExposedChains all;
    all.add(std::move(rank), busy, 1);
    return all.take();
}

using Parts = std::vector<std::pair<std::size_t, double>>;

TEST(ExposedChains, AGapEndsTheWholeCollective) {
    const auto found = chains({running(0, 100)}, {{0, 60}});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].exposed_us, 40);
    EXPECT_EQ(found[0].chain_us, (Parts{{0, 100}}));
}

TEST(ExposedChains, NothingIsExposedBesideKernels) {
    EXPECT_TRUE(chains({running(10, 90)}, {{0, 100}}).empty());
}

TEST(ExposedChains, WhatWasQueuedBehindAnotherIsInItsChain) {
    Communication second = running(52, 100, 1);
    second.since = 50;  // its launch took from 50 to 52
    const auto queued = chains({running(0, 50), second}, {{0, 90}});
    ASSERT_EQ(queued.size(), 1U);
    EXPECT_EQ(queued[0].exposed_us, 10);
    EXPECT_EQ(queued[0].chain_us, (Parts{{0, 50}, {1, 48}}));
    second.since = 51;  // it waited for something else
    const auto later = chains({running(0, 50), second}, {{0, 90}});
    ASSERT_EQ(later.size(), 1U);
    EXPECT_EQ(later[0].chain_us, (Parts{{1, 48}}));
}

TEST(ExposedChains, AChainBeginsAnewAfterAGap) {
    const auto found = chains({running(0, 100)}, {{0, 20}, {30, 90}});
    // Gaps of 10 after 30 and after 70: together they grow by what the collective loses.
    double exposed = 0;
    double chain = 0;
    for (const ExposedChain& one : found) {
        exposed += one.exposed_us;
        chain += one.chain_us.at(0).second;
    }
    EXPECT_EQ(found.size(), 2U);
    EXPECT_EQ(exposed, 20);
    EXPECT_EQ(chain, 100);
}

TEST(ExposedChains, WaitingDoesNotGrow) {
    Communication late = running(0, 100);
    late.waiting = {0, 70};
    const auto found = chains({late}, {});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].exposed_us, 100);
    EXPECT_EQ(found[0].chain_us, (Parts{{0, 30}}));
}

TEST(ExposedChains, ThoseBesideEachOtherShareTheTime) {
    const auto found = chains({running(0, 100, 0), running(0, 100, 1)}, {});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].exposed_us, 100);
    EXPECT_EQ(found[0].chain_us, (Parts{{0, 50}, {1, 50}}));
}

TEST(ExposedChains, AGivenTimeHasNoError) {
    const auto found = chains({running(0, 100, ExposedChains::kGiven)}, {});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].exposed_us, 100);
    EXPECT_TRUE(found[0].chain_us.empty());
}

}  // namespace
}  // namespace switchfold::exposed_chains_test
