// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/simulation.h"
#include "interconnect/tests/pusher.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <vector>

namespace switchfold::push_trains_test {
namespace {

constexpr std::uint32_t kLength = 32;  // elements per line

/// Pushes the lines of a train, in one packet if `whole` and else in one packet per line. Values
/// differ between members and lines.
void push(
    Pusher& pusher, std::uint32_t member, std::uint64_t train, std::uint32_t lines, bool whole) {
    const auto number = [&](std::uint64_t line, std::uint32_t e) {
        return static_cast<float>((member + 1) * (line + 1) + e);
    };
    std::vector<float> values;
    for (std::uint32_t i = 0; i < lines; ++i) {
        for (std::uint32_t e = 0; e < kLength; ++e)
            values.push_back(number(train * lines + i, e));
        if (whole && i + 1 < lines)
            continue;
        const std::uint64_t first = whole ? train * lines : train * lines + i;
        pusher.push_train(
            member, first, static_cast<std::uint8_t>(whole ? lines : 1), values, train);
        values.clear();
    }
}

RC_GTEST_PROP(PushTrainProperty, NoLineIsLostOrCountedTwice, ()) {
    const ReductionUnitParams unit = any_unit();
    const std::uint32_t gpus = *rc::gen::inRange(2U, 9U);
    Simulation simulation;
    Fabric fabric("fabric", family(*rc::gen::inRange(0, 3), gpus, unit), simulation.scheduler());
    Pusher pusher(fabric, ElementType::kFloat32);
    const std::uint64_t trains = *rc::gen::inRange<std::uint64_t>(1, 20);
    const std::uint32_t lines = *rc::gen::inRange(1U, static_cast<unsigned>(kLinesInTrain) + 1);
    const std::uint64_t skew = *rc::gen::inRange<std::uint64_t>(0, 10);
    // If mixed, even members push whole trains and odd members push single lines.
    const bool mixed = *rc::gen::arbitrary<bool>();
    for (std::uint32_t m = 0; m < gpus; ++m)
        for (std::uint64_t i = 0; i < trains; ++i)
            push(pusher, m, (i + m * skew) % trains, lines, !mixed || m % 2 == 0);
    simulation.run();
    RC_ASSERT(pusher.arrived.size() == trains * lines * gpus);
    for (const auto& [key, times] : pusher.arrived)
        RC_ASSERT(times == 1);
    for (const auto& [key, sum] : pusher.sums)
        for (std::uint32_t e = 0; e < kLength; ++e) {
            const auto of_members = static_cast<float>(gpus * (gpus + 1) / 2 * (key.first + 1));
            RC_ASSERT(sum[e] == of_members + static_cast<float>(gpus * e));
        }
    RC_ASSERT(fabric.values().live() == 0U);
    RC_ASSERT(fabric.blocked().empty());
    expect_clean(fabric);
}

struct TimedPushes {
    double us = 0;
    std::uint64_t trains = 0;
    std::uint64_t events = 0;
    ReductionUnitStatistics statistics;
};

/// Eight members push 800 lines of 128 bytes; each member is `skew` trains ahead of the previous.
TimedPushes pushes(int kind, const ReductionUnitParams& unit, bool whole, std::uint64_t skew = 0) {
    constexpr std::uint32_t kGpus = 8;
    constexpr std::uint32_t kLines = 4;
    constexpr std::uint64_t kTrains = 200;
    Simulation simulation;
    Fabric fabric("fabric", family(kind, kGpus, unit), simulation.scheduler());
    Pusher pusher(fabric, ElementType::kFloat32);
    for (std::uint64_t train = 0; train < kTrains; ++train)
        for (std::uint32_t m = 0; m < kGpus; ++m)
            push(pusher, m, (train + m * skew) % kTrains, kLines, whole);
    const Time end = simulation.run();
    EXPECT_EQ(pusher.arrived.size(), kTrains * kLines * kGpus);
    return {to_microseconds(end), pusher.trains, simulation.scheduler().events(), total(fabric)};
}

TEST(PushTrains, TakeTheTimeOfTheirLinesInFewerEvents) {
    for (const int kind : {0, 1, 2}) {
        const TimedPushes trains = pushes(kind, ReductionUnitParams{}, true);
        const TimedPushes lines = pushes(kind, ReductionUnitParams{}, false);
        EXPECT_NEAR(trains.us / lines.us, 1.0, 0.01) << kind;
        EXPECT_EQ(trains.trains, 8U * 200) << kind;
        EXPECT_LT(trains.events, 0.4 * static_cast<double>(lines.events)) << kind;
        // Reduction units count lines, whether they arrive in trains or alone.
        EXPECT_EQ(trains.statistics.reductions, lines.statistics.reductions) << kind;
        EXPECT_EQ(trains.statistics.bytes_in, lines.statistics.bytes_in) << kind;
    }
}

TEST(PushTrains, FullTablesStallAndEvictTheirLines) {
    ReductionUnitParams unit;
    unit.entries = 8;
    unit.when_full = WhenFull::kEvict;
    unit.timeout = microseconds(2);
    const TimedPushes evicting = pushes(0, unit, true, 37);
    EXPECT_GT(evicting.statistics.stalled_requests, 0U);
    EXPECT_GT(evicting.statistics.evictions, 0U);
    unit.when_full = WhenFull::kStall;
    unit.timeout = Time(0);
    unit.entries = 16;
    const TimedPushes stalling = pushes(0, unit, true);
    EXPECT_EQ(stalling.statistics.reductions, 800U);
}

TEST(PushTrains, RoomIsThatOfTheNarrowestSwitch) {
    ReductionUnitParams unit;
    unit.entries = 10;
    unit.buffer = kibibytes(64);
    Simulation simulation;
    Fabric fabric("fabric", one_level(4, unit), simulation.scheduler());
    const Pusher pusher(fabric, ElementType::kFloat32);
    // Switches have 2, 1 and 1 of 4 lanes and four ports each: 10 entries of 128 bytes per lane.
    EXPECT_EQ(fabric.push_room(*pusher.group), 10U * 128 * 4 * 4);
}

}  // namespace
}  // namespace switchfold::push_trains_test
