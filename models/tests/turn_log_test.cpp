// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/jump/turn_log.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace switchfold {
namespace {

/// Parts that end a turn every so many ps, and what their log says at the end of each window.
struct Parts : TurnListener {
    Parts(std::uint64_t cycle, std::uint64_t most) : log(cycle, cycle, most) {
        TurnListener* self = this;
        log.set_listener(self);
    }
    void on_window() override { over = true; }
    /// Runs until the log says that it repeats itself, or for so many turns of the first part.
    template <class Next>
    std::optional<Repetition> run(std::uint64_t turns, std::uint32_t parts, const Next& next) {
        std::vector<std::uint64_t> due(parts);
        for (std::uint32_t part = 0; part < parts; ++part)
            due[part] = next(part, 0, 1000);
        std::vector<std::uint64_t> done(parts);
        while (done[0] < turns) {
            std::uint32_t first = 0;
            for (std::uint32_t part = 1; part < parts; ++part)
                if (due[part] < due[first])
                    first = part;
            now = due[first];
            log.note(first, now);
            due[first] = next(first, ++done[first], now);
            if (!over)
                continue;
            over = false;
            if (auto found = log.close_window(now))
                return found;
        }
        return std::nullopt;
    }
    TurnLog log;
    bool over = false;
    std::uint64_t now = 0;
};

TEST(TurnLog, SeesThatAllPartsRepeatThemselves) {
    Parts parts(1, 64);
    for (std::uint32_t lane : {0U, 0U, 1U})
        parts.log.add(lane);
    // The second lane does two turns for each of the first's.
    const auto found = parts.run(
        20, 3, [](auto part, auto, auto now) { return now + (part == 2 ? 5000U : 10000U); });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->period, 10000U);
    EXPECT_DOUBLE_EQ(found->turns[0], 1);
    EXPECT_DOUBLE_EQ(found->turns[1], 2);
    EXPECT_GT(found->trusted, 8U);
    EXPECT_NEAR(found->seen, 3, 1e-9);
}

TEST(TurnLog, TurnsThatDifferInTurnRepeatThemselvesOverSeveral) {
    Parts parts(1, 64);
    parts.log.add(0);
    parts.log.add(0);
    const auto found = parts.run(
        200, 2, [](auto, auto turn, auto now) { return now + (turn % 4 == 3 ? 13000U : 10000U); });
    ASSERT_TRUE(found);
    EXPECT_NEAR(
        static_cast<double>(found->period) / static_cast<double>(parts.log.window()),
        43000.0 / 4,
        43000.0 / 4 * 0.003);
}

TEST(TurnLog, WhatBecomesSlowerDoesNotRepeatItself) {
    Parts parts(1, 16);
    parts.log.add(0);
    EXPECT_FALSE(
        parts.run(2000, 1, [](auto, auto turn, auto now) { return now + 10000 + turn * 100; }));
}

TEST(TurnLog, PartsOfALaneThatDriftApartAreNotTrustedForLong) {
    Parts parts(1, 16);
    parts.log.add(0);
    parts.log.add(0);
    // The second is faster by a hundredth; it must be held up when it is far ahead.
    const auto found = parts.run(
        40, 2, [](auto part, auto, auto now) { return now + (part == 1 ? 9900U : 10000U); });
    ASSERT_TRUE(found);
    EXPECT_LE(found->trusted, 40U);
}

TEST(TurnLog, JitterAveragesOut) {
    Parts parts(1, 64);
    constexpr std::uint32_t kParts = 40;
    for (std::uint32_t part = 0; part < kParts; ++part)
        parts.log.add(part / 10);
    // Turns take turns: each part's come early and late by a twentieth, its own way.
    const auto found = parts.run(400, kParts, [](auto part, auto turn, auto) {
        return 1000 + (turn + 1) * 10000 + (turn * 7919 + part * 104729) % 1000;
    });
    ASSERT_TRUE(found);
    EXPECT_NEAR(
        static_cast<double>(found->period) / static_cast<double>(parts.log.window()), 10000, 20);
}

TEST(TurnLog, WindowsAreWholeCycles) {
    Parts parts(15, 60);
    parts.log.add(0);
    const auto found = parts.run(
        100, 1, [](auto, auto turn, auto now) { return now + (turn % 15 == 0 ? 30000U : 10000U); });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->period, 170000U);
    EXPECT_DOUBLE_EQ(found->turns[0], 15);
}

}  // namespace
}  // namespace switchfold
