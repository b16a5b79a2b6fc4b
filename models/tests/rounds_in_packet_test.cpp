// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch/in_switch_steps.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace switchfold::rounds_in_packet_test {
namespace {

constexpr std::uint64_t kLong = 1 << 20;  // rounds

TEST(RoundsInPacket, OfFewHeadsOrShortTransfersAreOne) {
    EXPECT_EQ(rounds_in_packet(8, kLong * 64, 1024).most, 1U);
    EXPECT_EQ(rounds_in_packet(72, 1024, 1024).most, 1U);
    EXPECT_GT(rounds_in_packet(72, kLong, 1024).most, 1U);
}

TEST(RoundsInPacket, FitAReductionUnitTwice) {
    EXPECT_EQ(rounds_in_packet(72, kLong, 0).most, 1U);
    EXPECT_EQ(rounds_in_packet(72, kLong, 8).most, 4U);
    EXPECT_LE(rounds_in_packet(72, kLong, UINT64_MAX).most, 16U);
}

TEST(RoundsInPacket, BeginAndEndSingly) {
    const RoundsInPacket rounds = rounds_in_packet(72, kLong, 1024);
    EXPECT_EQ(rounds.of(0, 1000), 1U);
    EXPECT_EQ(rounds.of(1000, 0), 1U);
    EXPECT_EQ(rounds.of(40, 1000), 5U);
    EXPECT_EQ(rounds.of(1000, 40), 5U);
    EXPECT_EQ(rounds.of(1000, 1000), rounds.most);
}

}  // namespace
}  // namespace switchfold::rounds_in_packet_test
