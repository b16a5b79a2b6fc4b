// SPDX-License-Identifier: Apache-2.0
#include "training/plan/schedule/generators.h"
#include "training/plan/schedule/in_flight.h"
#include "training/plan/schedule/replay.h"
#include "training/plan/schedule/weight_age.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

namespace switchfold::schedules_test {
namespace {

constexpr StageTimes kEqual{1, 1, 1, 0, 0};

ReplayTimes equal(const PipelineSchedule& schedule, StageTimes times = kEqual) {
    return {std::vector<StageTimes>(schedule.stages(), times), 0};
}

std::string word(const std::vector<std::string>& problems) {
    return problems.empty() ? std::string() : problems.front();
}

ScheduleShape any_shape() {
    ScheduleShape shape;
    shape.devices = *rc::gen::inRange(1U, 17U);
    shape.micro_batches = *rc::gen::inRange(1U, 70U);
    shape.chunks = *rc::gen::inRange(1U, 5U);
    shape.update_every = *rc::gen::inRange(1U, 20U);
    return shape;
}

RC_GTEST_PROP(ScheduleProperty, EveryScheduleRunsEveryPassOnceAndEnds, ()) {
    const ScheduleShape shape = any_shape();
    for (const ScheduleGenerator& generator : schedule_generators()) {
        if (!generator.refusal(shape).empty())
            continue;
        const PipelineSchedule schedule = generator.make(shape);
        RC_ASSERT(schedule.name == generator.name);
        RC_ASSERT(word(problems_of(schedule)) == "");
        if (generator.chunks != 0)
            RC_ASSERT(schedule.stages() == generator.chunks * shape.devices);
        RC_ASSERT(schedule.stages() == stages_of(generator, shape));
    }
}

RC_GTEST_PROP(ScheduleProperty, StagesAreKnownBeforeTheScheduleIsMade, ()) {
    ScheduleShape shape = any_shape();
    shape.replicas = *rc::gen::resize(
        5, rc::gen::nonEmpty(
               rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(1U, 5U))));
    shape.devices = std::accumulate(shape.replicas.begin(), shape.replicas.end(), std::uint32_t{0});
    for (const ScheduleGenerator& generator : schedule_generators())
        if (generator.refusal(shape).empty())
            RC_ASSERT(generator.make(shape).stages() == stages_of(generator, shape));
}

RC_GTEST_PROP(ScheduleProperty, BubblesAreTheClosedForms, ()) {
    const std::uint32_t p = *rc::gen::inRange(2U, 17U);
    const std::uint32_t m = p * *rc::gen::inRange(2U, 5U);
    const double f = *rc::gen::inRange(1, 20);
    const double b = *rc::gen::inRange(1, 20);
    const double w = *rc::gen::inRange(1, 20);
    const auto bubble = [&](const char* name, std::uint32_t chunks = 1) {
        const PipelineSchedule schedule = find_schedule(name)->make({p, m, chunks});
        const double parts = schedule.stages() / p;
        const Replay times = replay(schedule, equal(schedule, {f / parts, b / parts, w / parts}));
        return times.cost - m * (f + b + w);
    };
    const auto close = [](double a, double c) { return std::abs(a - c) < 1e-6 * (1 + c); };
    RC_ASSERT(close(bubble("gpipe"), (p - 1) * (f + b + w)));
    RC_ASSERT(close(bubble("1f1b"), (p - 1) * (f + b + w)));
    RC_ASSERT(close(bubble("interleaved_1f1b", 4), (p - 1) * (f + b + w) / 4));
}

TEST(Schedules, ZeroBubbleLeavesItsClosedFormsWithEqualPasses) {
    for (const std::uint32_t p : {2U, 3U, 4U, 8U, 16U}) {
        const std::uint32_t m = 4 * p;
        const auto bubble = [&](const char* name) {
            const PipelineSchedule schedule = find_schedule(name)->make({p, m});
            const double parts = schedule.stages() / p;
            return replay(schedule, equal(schedule, {1 / parts, 1 / parts, 1 / parts})).cost -
                   3.0 * m;
        };
        EXPECT_NEAR(bubble("zb_h1"), p - 1, 1e-9) << p;
        EXPECT_NEAR(bubble("zb_h2"), 0, 1e-9) << p;
        EXPECT_NEAR(bubble("zb_v"), 0, 1e-9) << p;
    }
}

TEST(Schedules, VShapesHoldTheirShareOfActivations) {
    for (std::uint32_t p = 2; p <= 16; ++p) {
        const auto most = [&](const char* name) {
            const PipelineSchedule schedule = find_schedule(name)->make({p, 4 * p});
            double result = 0;
            for (std::uint32_t device = 0; device < p; ++device)
                result = std::max(
                    result,
                    most_in_flight(
                        schedule, device, std::vector<Kept>(schedule.stages(), Kept{0.5, 0}))
                        .kept);
            return result;
        };
        EXPECT_LE(most("zb_v"), p) << p;
        EXPECT_LE(most("v_half"), p / 2.0 + 1) << p;
        EXPECT_LE(most("v_min"), p / 3.0 + 1.5) << p;
    }
}

RC_GTEST_PROP(ScheduleProperty, ActivationsInFlightAreTheFormulas, ()) {
    const std::uint32_t p = *rc::gen::inRange(2U, 17U);
    const std::uint32_t m = 2 * p + *rc::gen::inRange(0U, 10U);
    const double m_w = *rc::gen::element(0.0, 0.25, 0.5, 1.0);
    for (std::uint32_t s = 0; s < p; ++s) {
        const auto most = [&](const char* name) {
            return most_in_flight(
                       find_schedule(name)->make({p, m}), s, std::vector<Kept>(p, Kept{1, m_w}))
                .kept;
        };
        RC_ASSERT(most("gpipe") == m);
        RC_ASSERT(most("1f1b") == p - s);
        RC_ASSERT(most("1f1b_async") == p - s);
        RC_ASSERT(most("zb_h1") == p - s + s * m_w);
        RC_ASSERT(most("zb_h2") == 2 * p - 2 * s - 1 + 2 * s * m_w);
    }
}

TEST(Schedules, DualPipeLeavesItsClosedForm) {
    // (P/2 - 1)(F&B' + B' - 3 W), Li 2025. It is exact if an overlapped pair of passes takes as
    // long as its two passes.
    for (const std::uint32_t p : {2U, 4U, 8U, 16U}) {
        const PipelineSchedule schedule = find_schedule("dualpipe")->make({p, 4 * p});
        const Replay times = replay(schedule, equal(schedule));
        EXPECT_NEAR(times.cost * times.bubble_share, (p / 2.0 - 1) * (3 + 2 - 3), 1e-9) << p;
    }
}

TEST(Schedules, ChimeraLeavesItsClosedForm) {
    for (const std::uint32_t d : {2U, 4U, 8U, 16U}) {
        for (const std::uint32_t units : {1U, 2U, 3U}) {
            const std::uint32_t n = units * d;
            const PipelineSchedule schedule = find_schedule("chimera")->make({d, n});
            const Replay times = replay(schedule, equal(schedule, {1, 1, 0}));
            EXPECT_NEAR(times.makespan, 2.0 * n + d - 2, 1e-9) << d << " " << n;
        }
    }
}

TEST(Schedules, AnAsynchronousForwardMissesTheUpdatesOfTheStagesThatFollow) {
    for (const std::uint32_t n : {2U, 3U, 4U, 8U, 16U}) {
        const PipelineSchedule schedule = find_schedule("1f1b_async")->make({n, 4 * n});
        for (std::uint32_t k = 0; k < n; ++k) {
            const WeightAge age = weight_ages(schedule, k)[2 * n];
            EXPECT_EQ(age.forward_missed, n - 1 - k);
            EXPECT_EQ(age.backward_missed, 0U);
            EXPECT_EQ(age.between, n - 1 - k);
            EXPECT_EQ(versions_stashed(schedule, k), n - k);
        }
    }
}

TEST(Schedules, TheWallClockTargetIsThatOfFourStages) {
    const PipelineSchedule schedule = find_schedule("1f1b_async")->make({4, 40});
    const Replay times = replay(schedule, equal(schedule, {1, 1, 0}));
    std::vector<std::uint32_t> forward;
    std::vector<std::uint32_t> backward;
    for (std::uint32_t k = 0; k < 4; ++k) {
        forward.push_back(
            updates_until_round_trip_ends(schedule, times, {PassKind::kForward, 20, k}));
        backward.push_back(
            updates_until_round_trip_ends(schedule, times, {PassKind::kBackward, 20, k}));
    }
    EXPECT_EQ(forward, (std::vector<std::uint32_t>{3, 3, 2, 2}));
    EXPECT_EQ(backward, (std::vector<std::uint32_t>{0, 1, 1, 2}));
    EXPECT_EQ(predicted_forward(4, 1), 2U);
    EXPECT_EQ(predicted_backward(4, 3), 1U);
}

TEST(Schedules, TwoBatchesAtOnceKeepEveryDeviceBusy) {
    const std::uint32_t p = 4;
    const PipelineSchedule schedule = find_schedule("two_batches")->make({p, 40});
    const Replay times = replay(schedule, equal(schedule, {1, 1, 0, 0, 1}));
    // Once the pipeline is full, a mini-batch finishes in every unit of time.
    EXPECT_NEAR(times.slots[0].back().end, 40 + 2 * p - 1, 1e-9);
}

TEST(Schedules, ReplicatedStagesTakeTurns) {
    ScheduleShape shape{4, 12};
    shape.replicas = {3, 1};
    const PipelineSchedule schedule = asynchronous_1f1b(shape);
    EXPECT_EQ(word(problems_of(schedule)), "");
    EXPECT_EQ(schedule.devices(), 4U);
    EXPECT_EQ(schedule.device_of({PassKind::kForward, 5, 0}), 2U);
    EXPECT_EQ(schedule.device_of({PassKind::kForward, 5, 1}), 3U);
}

TEST(Schedules, NamesWhatIsWrong) {
    PipelineSchedule schedule = find_schedule("1f1b")->make({2, 2});
    PipelineSchedule twice = schedule;
    twice.order[0].push_back(twice.order[0].front());
    EXPECT_EQ(word(problems_of(twice)), "device 0 runs F0@0 twice");
    PipelineSchedule missing = schedule;
    missing.order[1].erase(missing.order[1].begin());
    EXPECT_EQ(word(problems_of(missing)), "no device runs F0@1");
    PipelineSchedule circle = schedule;
    std::reverse(circle.order[1].begin(), circle.order[1].end() - 1);
    EXPECT_EQ(word(problems_of(circle)), "deadlocks: device 1 waits with BW1@1 for F1@1");
    PipelineSchedule none = schedule;
    none.order[0].pop_back();
    EXPECT_EQ(
        word(problems_of(none)), "the gradients of micro-batch 0 on stage 0 go into no update");
}

}  // namespace
}  // namespace switchfold::schedules_test
