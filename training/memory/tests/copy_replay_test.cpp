// SPDX-License-Identifier: Apache-2.0
#include "training/memory/copies/copy_replay.h"

#include "training/memory/tests/random_offload.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

namespace switchfold::copy_replay_test {
namespace {

OffloadPlan random_plan(const TensorUses& schedule, std::uint64_t& memory) {
    OffloadPlanOptions options;
    options.planner = *rc::gen::element(
        OffloadPlanner::kOffloadAll, OffloadPlanner::kOptimal, OffloadPlanner::kFirstFit);
    options.staging = *rc::gen::element(Staging::kSingle, Staging::kDoublePeak, Staging::kWindow);
    options.optimal.granule = *rc::gen::element<std::uint64_t>(1, 7);
    memory = options.memory = *rc::gen::inRange<std::uint64_t>(60, 600);
    return plan_offload(schedule, options);
}

/// The most bytes that the replay holds in the ring at any time.
std::uint64_t
fullest(const TensorUses& schedule, const std::vector<bool>& retained, const CopyReplay& replay) {
    std::map<double, std::int64_t> changes;
    const auto bytes = [&](std::uint32_t item) {
        return static_cast<std::int64_t>(schedule.items[item].bytes);
    };
    for (const Stay& stay : stays_of(schedule))
        if (!retained[stay.item] && stay.first > stay.last)
            changes[-1] += bytes(stay.item);
    const std::vector<StepMoves> moves = step_moves(schedule, retained);
    for (std::size_t t = 0; t < moves.size(); ++t) {
        for (const std::uint32_t item : moves[t].prefetch)
            changes[replay.steps[t].fetch_begin] += bytes(item);
        for (const std::uint32_t item : moves[t].make)
            changes[replay.steps[t].fetch_begin] += bytes(item);
        for (const std::uint32_t item : moves[t].drop)
            changes[replay.steps[t].end] -= bytes(item);
        for (const std::uint32_t item : moves[t].offload)
            changes[replay.steps[t].given_back] -= bytes(item);
    }
    std::int64_t live = 0;
    std::int64_t most = 0;
    for (const auto& [when, change] : changes)
        most = std::max(most, live += change);
    return static_cast<std::uint64_t>(most);
}

RC_GTEST_PROP(CopyReplay, KeepsTheBoundsAndTheRing, ()) {
    const TensorUses schedule = test_data::random_schedule();
    std::uint64_t memory = 0;
    const OffloadPlan plan = random_plan(schedule, memory);
    RC_PRE(plan.refusal.empty());
    const CopyRates rates{1.0 * *rc::gen::inRange(1, 5), 1.0 * *rc::gen::inRange(1, 5)};
    const CopyReplay replay = replay_copies(schedule, plan, memory, rates);
    RC_ASSERT(replay.seconds >= replay.at_least - 1e-9);
    RC_ASSERT(replay.stall >= -1e-9);
    RC_ASSERT(fullest(schedule, plan.retained, replay) <= memory - plan.retained_bytes);
    double before = 0;
    for (const StepReplay& step : replay.steps) {
        RC_ASSERT(step.begin >= step.fetch_end);
        RC_ASSERT(step.begin >= before);
        before = step.end;
    }
    const double copies = static_cast<double>(plan.bytes_in) / rates.in +
                          static_cast<double>(plan.bytes_out) / rates.out;
    RC_ASSERT(replay.seconds <= replay.compute + copies + 1e-9);
    if (plan.staging == Staging::kSingle)
        RC_ASSERT(std::abs(replay.seconds - replay.compute - copies) < 1e-9);
}

RC_GTEST_PROP(CopyReplay, WhatIsAllRetainedTakesItsKernels, ()) {
    const TensorUses schedule = test_data::random_schedule();
    OffloadPlanOptions options;
    options.planner = OffloadPlanner::kNone;
    options.memory = 100'000;
    const OffloadPlan plan = plan_offload(schedule, options);
    RC_ASSERT(plan.retained_bytes == plan.candidate_bytes);
    RC_ASSERT(plan.moved_bytes() == 0U);
    RC_ASSERT(std::abs(replay_copies(schedule, plan, 100'000, {1, 1}).stall) < 1e-9);
}

RC_GTEST_PROP(StepMoves, EveryCopyIsThereOnce, ()) {
    const TensorUses schedule = test_data::random_schedule();
    std::uint64_t memory = 0;
    const OffloadPlan plan = random_plan(schedule, memory);
    RC_PRE(plan.refusal.empty());
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    std::int64_t live = 0;  // every item that comes in goes out
    for (const StepMoves& moves : step_moves(schedule, plan.retained)) {
        for (const std::uint32_t item : moves.prefetch)
            in += schedule.items[item].bytes;
        for (const std::uint32_t item : moves.offload)
            out += schedule.items[item].bytes;
        live += static_cast<std::int64_t>(moves.prefetch.size() + moves.make.size()) -
                static_cast<std::int64_t>(moves.offload.size() + moves.drop.size());
    }
    RC_ASSERT(in == plan.bytes_in);
    RC_ASSERT(out == plan.bytes_out);
    RC_ASSERT(live == 0);
    RC_ASSERT(plan.gap().has_value());
    RC_ASSERT(plan.saved_bytes <= *plan.saved_at_most);
    RC_ASSERT(*std::max_element(plan.step_bytes.begin(), plan.step_bytes.end()) <= memory);
}

/// Three forward steps and one backward, with nothing retained: F1's activation leaves and comes
/// back.
TEST(CopyReplay, PrefetchesBesideTheStepBefore) {
    TensorUses schedule;
    for (const char* name : {"a", "b", "c"})
        schedule.items.push_back({name, MemoryClass::kActivations, 10});
    schedule.steps = {
        {"F1", UseKind::kForward, 4, {{0, true}}},
        {"F2", UseKind::kForward, 4, {{1, true}}},
        {"F3", UseKind::kForward, 4, {{2, true}}},
        {"B1", UseKind::kBackward, 4, {{0, false}}}};
    count_copies(schedule);
    ASSERT_EQ(schedule.items[0].copies(), 2U);
    ASSERT_EQ(schedule.items[1].copies(), 0U);
    const std::vector<bool> none(3);
    // A copy takes 2 s each way, and there is room for two activations. The copy of a to the host
    // ends at 6. F2 needs its own 10 bytes, so F3 starts when F2 ends, and a comes back during F3.
    const CopyReplay two = replay_copies(schedule, none, 20, {5, 5});
    EXPECT_DOUBLE_EQ(two.seconds, 16);
    EXPECT_DOUBLE_EQ(two.steps[3].fetch_begin, 8);
    EXPECT_EQ(fullest(schedule, none, two), 20U);
    // With room for one, every step waits for copies.
    const CopyReplay one = replay_copies(schedule, none, 10, {5, 5}, false);
    EXPECT_DOUBLE_EQ(one.seconds, 16 + 4);
}

TEST(OffloadPlan, SaysWhyThereIsNone) {
    TensorUses schedule;
    schedule.items.push_back({"a", MemoryClass::kActivations, 100});
    schedule.items.push_back({"b", MemoryClass::kActivations, 50});
    schedule.steps = {
        {"F1", UseKind::kForward, 1, {{0, true}}},
        {"F2", UseKind::kForward, 1, {{1, true}}},
        {"B1", UseKind::kBackward, 1, {{0, false}}}};
    schedule.resident_bytes = 1000;
    count_copies(schedule);
    const auto refusal = [&](OffloadPlanner planner, std::uint64_t memory) {
        OffloadPlanOptions options;
        options.planner = planner;
        options.memory = memory;
        options.staging = Staging::kSingle;
        options.optimal.granule = 1;
        return plan_offload(schedule, options).refusal;
    };
    EXPECT_EQ(
        refusal(OffloadPlanner::kOptimal, 999), "what always stays takes 1000 B; there are 999 B");
    EXPECT_EQ(
        refusal(OffloadPlanner::kNone, 1140),
        "needs 150 B for retained data and staging; there are 140 B");
    EXPECT_EQ(refusal(OffloadPlanner::kNone, 1150), "");
    EXPECT_EQ(
        refusal(OffloadPlanner::kFirstFit, 1199), "199 B for retained data and staging are less "
                                                  "than twice the fullest step; expected 200 B or "
                                                  "more");
    EXPECT_EQ(refusal(OffloadPlanner::kOffloadAll, 1100), "");
    EXPECT_NE(refusal(OffloadPlanner::kOptimal, 1099), "");
}

}  // namespace
}  // namespace switchfold::copy_replay_test
