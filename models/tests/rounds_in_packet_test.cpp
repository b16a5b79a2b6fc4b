// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch/in_switch_steps.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace switchfold::rounds_in_packet_test {
namespace {

/// A long pull that asks for much more than links carry.
constexpr PullLoad kHeavy{
    .heads = 72, .rounds = 1 << 20, .asked = 14'000'000, .held = 1'000'000, .room = 1024};

TEST(RoundsInPacket, AreOneInShortTransfers) {
    PullLoad load = kHeavy;
    EXPECT_GT(rounds_in_packet(load).most, 1U);
    load.rounds = 1024;
    EXPECT_EQ(rounds_in_packet(load).most, 1U);
}

TEST(RoundsInPacket, AreOneWhereLinksCarryMostOfWhatIsAskedFor) {
    PullLoad load = kHeavy;
    load.held = load.asked / 2;
    EXPECT_EQ(rounds_in_packet(load).most, 1U);
    load.held = load.asked / 5;
    EXPECT_GT(rounds_in_packet(load).most, 1U);
    load.links = 18;
    EXPECT_EQ(rounds_in_packet(load).most, 1U);
}

TEST(RoundsInPacket, AreOneInRegisteredBuffersBehindSeveralLinks) {
    PullLoad load = kHeavy;
    load.registered = true;
    EXPECT_GT(rounds_in_packet(load).most, 1U);
    load.links = 18;
    EXPECT_EQ(rounds_in_packet(load).most, 1U);
}

TEST(RoundsInPacket, FitAReductionUnitTwice) {
    PullLoad load = kHeavy;
    load.room = 0;
    EXPECT_EQ(rounds_in_packet(load).most, 1U);
    load.room = 8;
    EXPECT_EQ(rounds_in_packet(load).most, 4U);
    load.room = UINT64_MAX;
    EXPECT_LE(rounds_in_packet(load).most, 16U);
}

TEST(RoundsInPacket, BeginAndEndSingly) {
    const RoundsInPacket rounds = rounds_in_packet(kHeavy);
    EXPECT_EQ(rounds.of(0, 1000), 1U);
    EXPECT_EQ(rounds.of(1000, 0), 1U);
    EXPECT_EQ(rounds.of(40, 1000), 5U);
    EXPECT_EQ(rounds.of(1000, 40), 5U);
    EXPECT_EQ(rounds.of(1000, 1000), rounds.most);
}

}  // namespace
}  // namespace switchfold::rounds_in_packet_test
