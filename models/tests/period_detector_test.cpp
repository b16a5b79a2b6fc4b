// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/period_detector.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace switchfold::period_detector_test {
namespace {

/// Parts that end turns at given times (ps), with a log that is evaluated after each window.
struct Parts : WindowListener {
    Parts(std::uint64_t cycle, std::uint64_t most) : log(cycle, cycle, most) {
        WindowListener* self = this;
        log.set_listener(self);
    }
    void on_window() override { over = true; }
    /// Runs until the log finds a repetition, or for `turns` turns of the first part.
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
    PeriodDetector log;
    bool over = false;
    std::uint64_t now = 0;
};

TEST(PeriodDetector, SeesThatAllPartsRepeatThemselves) {
    Parts parts(1, 64);
    for (std::uint32_t lane : {0U, 0U, 1U})
        parts.log.add(lane);
    // The second lane does two turns per turn of the first lane.
    const auto found = parts.run(
        20, 3, [](auto part, auto, auto now) { return now + (part == 2 ? 5000U : 10000U); });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->period, 10000U);
    EXPECT_DOUBLE_EQ(found->turns[0], 1);
    EXPECT_DOUBLE_EQ(found->turns[1], 2);
    EXPECT_GT(found->trusted, 8U);
    EXPECT_NEAR(found->seen, 3, 1e-9);
    EXPECT_NEAR(found->counted, 2, 1e-9);  // work in flight settles in the first window
}

TEST(PeriodDetector, TurnsThatDifferInTurnRepeatThemselvesOverSeveral) {
    Parts parts(1, 64);
    parts.log.add(0);
    parts.log.add(0);
    const auto found = parts.run(
        200, 2, [](auto, auto turn, auto now) { return now + (turn % 4 == 3 ? 13000U : 10000U); });
    ASSERT_TRUE(found);
    EXPECT_NEAR(
        static_cast<double>(found->period) / static_cast<double>(parts.log.window()), 43000.0 / 4,
        43000.0 / 4 * 0.003);
}

TEST(PeriodDetector, AStretchEndsWithItsSection) {
    // Two sections of sixty turns, the second slower. A repetition never spans both.
    Parts parts(1, 8);
    parts.log.set_section(60);
    parts.log.add(0);
    parts.log.add(0);
    const auto next = [](auto, auto turn, auto now) { return now + (turn < 60 ? 10000U : 14000U); };
    const auto first = parts.run(60, 2, next);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->period / parts.log.window(), 10000U);
    EXPECT_GE(first->seen * static_cast<double>(parts.log.window()), 18);
    // All turns are alike here, but no section is long enough to determine their pace.
    Parts few(1, 8);
    few.log.set_section(12);
    few.log.add(0);
    few.log.add(0);
    EXPECT_FALSE(few.run(500, 2, [](auto, auto, auto now) { return now + 10000U; }));
}

TEST(PeriodDetector, OfLanesInASectionTheSlowestSetsThePace) {
    Parts parts(1, 8);
    parts.log.set_section(1000);
    parts.log.add(0);
    parts.log.add(1);
    const auto found = parts.run(
        500, 2, [](auto part, auto, auto now) { return now + (part == 1 ? 10020U : 10000U); });
    ASSERT_TRUE(found);
    const auto window = static_cast<double>(parts.log.window());
    EXPECT_NEAR(static_cast<double>(found->period) / window, 10020, 2);
    EXPECT_EQ(found->turns[0], found->turns[1]);
    // Turns are left out only until the lanes have drifted apart by a share of the section.
    EXPECT_LE(static_cast<double>(found->trusted) * window * 0.002, 1.6);
}

TEST(PeriodDetector, WhatBecomesSlowerDoesNotRepeatItself) {
    Parts parts(1, 16);
    parts.log.add(0);
    EXPECT_FALSE(
        parts.run(2000, 1, [](auto, auto turn, auto now) { return now + 10000 + turn * 100; }));
}

TEST(PeriodDetector, PartsOfALaneThatDriftApartAreNotTrustedForLong) {
    Parts parts(1, 16);
    parts.log.add(0);
    parts.log.add(0);
    // The second part is faster by a hundredth. It must be held up once it is far ahead.
    const auto found = parts.run(
        40, 2, [](auto part, auto, auto now) { return now + (part == 1 ? 9900U : 10000U); });
    ASSERT_TRUE(found);
    EXPECT_LE(found->trusted, 40U);
}

TEST(PeriodDetector, JitterAveragesOut) {
    Parts parts(1, 64);
    constexpr std::uint32_t kParts = 40;
    for (std::uint32_t part = 0; part < kParts; ++part)
        parts.log.add(part / 10);
    // Every part's turns are early or late by up to a twentieth, in a pattern of its own.
    const auto found = parts.run(400, kParts, [](auto part, auto turn, auto) {
        return 1000 + (turn + 1) * 10000 + (turn * 7919 + part * 104729) % 1000;
    });
    ASSERT_TRUE(found);
    EXPECT_NEAR(
        static_cast<double>(found->period) / static_cast<double>(parts.log.window()), 10000, 20);
}

TEST(PeriodDetector, BesideOthersAStretchIsLonger) {
    const auto steadily = [](auto, auto, auto now) { return now + 10000U; };
    Parts alone(1, 64);
    alone.log.add(0);
    ASSERT_TRUE(alone.run(20, 1, steadily));
    Parts parts(1, 64);
    parts.log.add(0);
    parts.log.expect(Motion::kClose, 0, true);
    EXPECT_FALSE(parts.run(48, 1, steadily));
    const auto found = parts.run(200, 1, steadily);
    ASSERT_TRUE(found);
    EXPECT_GE(found->seen * static_cast<double>(parts.log.window()), 48);
    EXPECT_LT(found->seen * static_cast<double>(parts.log.window()), 60);
}

TEST(PeriodDetector, WhatWandersRepeatsItselfAtItsMeanPace) {
    // Turns are up to 8 % faster or slower.
    const auto wandering = [](auto, std::uint64_t turn, auto now) {
        return now + 9200 + ((turn + 1) * 2654435761U >> 12U) % 1601;
    };
    Parts close(1, 4);
    close.log.add(0);
    EXPECT_FALSE(close.run(60, 1, wandering));
    Parts parts(1, 4);
    parts.log.add(0);
    parts.log.expect(Motion::kWandering);
    const auto found = parts.run(2000, 1, wandering);
    ASSERT_TRUE(found);
    EXPECT_NEAR(
        static_cast<double>(found->period) / static_cast<double>(parts.log.window()), 10000, 150);
}

TEST(PeriodDetector, AWanderingPaceThatCreepsIsTrustedForAsLongAsItStaysNear) {
    Parts parts(1, 4);
    parts.log.add(0);
    parts.log.expect(Motion::kWandering);
    // A thousandth slower every turn: after fifteen more the pace is another.
    const auto found =
        parts.run(400, 1, [](auto, auto turn, auto now) { return now + 10000 + turn * 10; });
    ASSERT_TRUE(found);
    EXPECT_LE(static_cast<double>(found->trusted) * static_cast<double>(parts.log.window()), 15);
}

TEST(PeriodDetector, AWanderingOneOfManyTurnsMayDriftByAShareOfThem) {
    // The second part falls back by one turn in twenty.
    const auto trusted = [](double all) {
        Parts parts(1, 4);
        parts.log.add(0, 2);
        parts.log.expect(Motion::kWandering, all);
        const auto found = parts.run(
            200, 2, [](auto part, auto, auto now) { return now + (part == 0 ? 10000U : 10500U); });
        return found ? found->trusted : 0;
    };
    EXPECT_GT(trusted(0), 5U);
    EXPECT_LT(trusted(0), 25U);
    EXPECT_GT(trusted(2000), 55U);
}

TEST(PeriodDetector, WindowsAreWholeCycles) {
    Parts parts(15, 60);
    parts.log.add(0);
    const auto found = parts.run(
        100, 1, [](auto, auto turn, auto now) { return now + (turn % 15 == 0 ? 30000U : 10000U); });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->period, 170000U);
    EXPECT_DOUBLE_EQ(found->turns[0], 15);
}

}  // namespace
}  // namespace switchfold::period_detector_test
