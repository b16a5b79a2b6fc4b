// SPDX-License-Identifier: Apache-2.0
#include "training/learning/timeline/weight_timeline.h"
#include "training/plan/schedule/generators.h"
#include "training/plan/schedule/weight_age.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace switchfold::learning::timeline_test {
namespace {

ScheduleShape shape_of(std::uint32_t devices, std::uint32_t micro_batches) {
    ScheduleShape shape;
    shape.devices = devices;
    shape.micro_batches = micro_batches;
    return shape;
}

ReplayTimes equal_times(const PipelineSchedule& schedule) {
    return {std::vector<StageTimes>(schedule.stages(), {1, 1, 1, 0.25, 0}), 0};
}

RanPasses replayed(const PipelineSchedule& schedule, const ReplayTimes& times) {
    return ran_passes(schedule, replay(schedule, times), 1);
}

TEST(WeightTimeline, ForwardsMissTheUpdatesThatThePublishedMethodSays) {
    for (std::uint32_t n = 2; n <= 16; ++n) {
        const PipelineSchedule schedule = asynchronous_1f1b(shape_of(n, 6 * n));
        const WeightTimeline timeline(replayed(schedule, equal_times(schedule)));
        for (std::uint32_t k = 0; k < n; ++k)
            for (std::uint32_t j = 2 * n; j < 4 * n; ++j) {
                const std::uint32_t in_order = timeline.updates_by_earlier(k, j);
                EXPECT_EQ(in_order, j);
                EXPECT_EQ(in_order - timeline.at_forward(k, j), n - 1 - k);
                EXPECT_EQ(timeline.at_backward(k, j), in_order);
                EXPECT_EQ(timeline.at_backward(k, j) - timeline.at_forward(k, j), n - 1 - k);
            }
    }
}

/// The paper's floor formulas count updates until the round trip ends, and are one too low on odd
/// stages. With equal times, a stage's own update by the same mini-batch comes before that end.
TEST(WeightTimeline, RoundTripsEndAsTheReplayOfTheScheduleSays) {
    for (std::uint32_t n = 2; n <= 16; ++n) {
        const PipelineSchedule schedule = asynchronous_1f1b(shape_of(n, 6 * n));
        const ReplayTimes times = {
            std::vector<StageTimes>(schedule.stages(), {1, 0.5, 0.5, 0, 0}), 0};
        const Replay ran = replay(schedule, times);
        const WeightTimeline timeline(replayed(schedule, times));
        const std::uint32_t j = 3 * n;
        for (std::uint32_t k = 0; k < n; ++k) {
            const std::uint32_t until = timeline.updates_at_round_trip(k, j);
            const std::uint32_t forward = until - timeline.at_forward(k, j);
            const std::uint32_t backward = until - timeline.at_backward(k, j);
            EXPECT_EQ(forward, predicted_forward(n, k) + k % 2) << n << ' ' << k;
            EXPECT_EQ(backward, predicted_backward(n, k) + k % 2) << n << ' ' << k;
            EXPECT_EQ(
                forward, updates_until_round_trip_ends(schedule, ran, {PassKind::kForward, j, k}));
        }
    }
}

TEST(WeightTimeline, UnequalStagesSeeWhatTheirReplayShows) {
    const PipelineSchedule schedule = asynchronous_1f1b(shape_of(4, 40));
    const ReplayTimes times{
        {{1, 1, 1, 0.1, 0}, {3, 2, 2, 0.1, 0}, {0.5, 1, 1, 0.1, 0}, {2, 2, 1, 0.1, 0}}, 0.3};
    const WeightTimeline timeline(replayed(schedule, times));
    for (std::uint32_t k = 0; k < 4; ++k) {
        const std::vector<WeightAge> ages = weight_ages(schedule, k);
        for (std::uint32_t j = 0; j < 40; ++j) {
            EXPECT_EQ(
                timeline.updates_by_earlier(k, j) - timeline.at_forward(k, j),
                ages[j].forward_missed);
            EXPECT_EQ(timeline.at_backward(k, j) - timeline.at_forward(k, j), ages[j].between);
        }
    }
}

TEST(WeightTimeline, ForwardsBesideBackwardsMissUpdatesThatEndLater) {
    const PipelineSchedule schedule = two_batches_at_once(shape_of(4, 40));
    const WeightTimeline timeline(replayed(schedule, equal_times(schedule)));
    for (std::uint32_t k = 0; k < 4; ++k)
        EXPECT_EQ(
            timeline.at_backward(k, 20) - timeline.at_forward(k, 20),
            weight_ages(schedule, k)[20].between);
}

TEST(WeightTimeline, ReplicasOfAStageUpdateWithTheGradientsOfAll) {
    ScheduleShape shape = shape_of(0, 24);
    shape.replicas = {2, 1};
    const PipelineSchedule schedule = asynchronous_1f1b(shape);
    const WeightTimeline timeline(replayed(schedule, equal_times(schedule)));
    ASSERT_EQ(timeline.updates(0), 12U);
    ASSERT_EQ(timeline.updates(1), 24U);
    EXPECT_EQ(timeline.gradients_of(0, 3), (std::vector<std::uint32_t>{6, 7}));
    EXPECT_EQ(timeline.gradients_of(1, 3), (std::vector<std::uint32_t>{3}));
    EXPECT_EQ(timeline.updates_by_earlier(0, 7), 3U);
    EXPECT_EQ(timeline.updates_by_earlier(0, 8), 4U);
}

TEST(WeightTimeline, FlushesTakeAllGradientsOfAStepOnce) {
    for (const ScheduleGenerator& generator : schedule_generators()) {
        ScheduleShape shape = shape_of(4, 8);
        shape.chunks = 2;
        if (generator.never_flushes || !generator.refusal(shape).empty())
            continue;
        const PipelineSchedule schedule = generator.make(shape);
        const Replay once = replay(schedule, equal_times(schedule));
        const WeightTimeline timeline(repeated(ran_passes(schedule, once, 8), 3, once.makespan));
        EXPECT_EQ(timeline.micro_batches(), 24U);
        for (std::uint32_t k = 0; k < timeline.stages(); ++k) {
            ASSERT_EQ(timeline.updates(k), 3U) << generator.name;
            EXPECT_EQ(
                timeline.gradients_of(k, 1),
                (std::vector<std::uint32_t>{8, 9, 10, 11, 12, 13, 14, 15}))
                << generator.name;
            EXPECT_EQ(timeline.at_forward(k, 12), 1U) << generator.name;
        }
    }
}

/// Times that are not binary fractions are rounded. Even so, no step may begin before the previous
/// one has ended.
TEST(Repeated, StepsNeverSeeWeightsOfTheStepBeforeTheLast) {
    const PipelineSchedule schedule = gpipe(shape_of(1, 1));
    const ReplayTimes times{{{0.1, 0.1, 0.1, 1.0 / 3, 0}}, 0};
    const Replay once = replay(schedule, times);
    const WeightTimeline timeline(repeated(ran_passes(schedule, once, 1), 1000, once.makespan));
    for (std::uint32_t j = 0; j < 1000; ++j)
        EXPECT_EQ(timeline.at_forward(0, j), j);
}

/// A short run that is extended has the same weight versions as a long one.
TEST(Extended, SeesTheVersionsOfALongRun) {
    for (const bool replicated : {false, true}) {
        ScheduleShape shape = shape_of(4, 48);
        if (replicated)
            shape.replicas = {2, 1, 1};
        const PipelineSchedule short_one = asynchronous_1f1b(shape);
        shape.micro_batches = 240;
        const PipelineSchedule longer = asynchronous_1f1b(shape);
        ReplayTimes times{
            {{1, 1, 1, 0.1, 0}, {1, 1, 0.5, 0.1, 0}, {0.5, 1, 1, 0.1, 0}, {1, 1, 0.9, 0.1, 0}},
            0.05};
        times.stages.resize(longer.stages());
        const auto made = extended(replayed(short_one, times), longer, 8, 2);
        ASSERT_TRUE(made.has_value());
        const WeightTimeline got(made->passes);
        const WeightTimeline wanted(replayed(longer, times));
        ASSERT_EQ(got.events().size(), wanted.events().size());
        for (std::uint32_t k = 0; k < longer.stages(); ++k)
            for (std::uint32_t j = 0; j < 240; ++j) {
                EXPECT_EQ(got.at_forward(k, j), wanted.at_forward(k, j)) << k << ' ' << j;
                EXPECT_EQ(got.at_backward(k, j), wanted.at_backward(k, j)) << k << ' ' << j;
                EXPECT_EQ(got.updates_at_round_trip(k, j), wanted.updates_at_round_trip(k, j));
            }
        EXPECT_NEAR(
            got.events().back().time, wanted.events().back().time, 0.01 * got.events().back().time);
    }
}

TEST(Extended, NeedsARunThatReachesItsPace) {
    const PipelineSchedule schedule = asynchronous_1f1b(shape_of(4, 16));
    EXPECT_FALSE(
        extended(
            replayed(schedule, equal_times(schedule)), asynchronous_1f1b(shape_of(4, 64)), 8, 1)
            .has_value());
}

TEST(SideBySide, ReplicasOfAPipelineShareEachUpdate) {
    const PipelineSchedule schedule = asynchronous_1f1b(shape_of(2, 12));
    const RanPasses one = replayed(schedule, equal_times(schedule));
    const WeightTimeline timeline(side_by_side({one, one}, true));
    EXPECT_EQ(timeline.micro_batches(), 24U);
    EXPECT_EQ(timeline.a_step(), 2U);
    EXPECT_EQ(timeline.gradients_of(1, 4), (std::vector<std::uint32_t>{8, 9}));
    EXPECT_EQ(timeline.at_forward(0, 10), 4U);
}

}  // namespace
}  // namespace switchfold::learning::timeline_test
