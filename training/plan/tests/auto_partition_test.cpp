// SPDX-License-Identifier: Apache-2.0
#include "training/network/decoder.h"
#include "training/plan/schedule/replay.h"
#include "training/plan/step/plan_step.h"
#include "training/plan/tests/small_gpt.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace switchfold::auto_partition_test {
namespace {

using test_data::a100;

/// When the passes of a partition end in the schedule's order.
double seconds(
    const Network& network, const ParallelPlan& plan, const PipelineSchedule& schedule,
    const std::vector<std::uint32_t>& first) {
    const StageWork work(network, a100(), plan, first);
    ReplayTimes times;
    for (std::uint32_t stage = 0; stage < work.stages(); ++stage) {
        StageTimes one;
        one.forward = work.seconds(PassKind::kForward, stage);
        one.input_gradient = work.seconds(PassKind::kInputGradient, stage);
        one.weight_gradient = work.seconds(PassKind::kWeightGradient, stage);
        times.stages.push_back(one);
    }
    return replay(schedule, times).makespan;
}

bool is_partition(
    const std::vector<std::uint32_t>& first, std::uint32_t stages, const Network& network) {
    return first.size() == stages && first.front() == 0 && first.back() < network.layers.size() &&
           std::adjacent_find(first.begin(), first.end(), std::greater_equal<>()) == first.end();
}

RC_GTEST_PROP(AutoPartition, IsNeverWorseThanBalancedOrEqual, ()) {
    GptShape shape;
    shape.layers = *rc::gen::inRange(1U, 40U);
    shape.hidden = 256;
    shape.heads = 4;
    shape.sequence = 128;
    shape.vocabulary = *rc::gen::element(256U, 8192U, 100'000U);
    const Network network = decoder("small", shape);
    ParallelPlan plan;
    plan.pipeline = *rc::gen::inRange(2U, 9U);
    plan.schedule = *rc::gen::element<std::string>("1f1b", "interleaved_1f1b", "gpipe");
    plan.chunks = plan.schedule == "interleaved_1f1b" ? *rc::gen::inRange(2U, 6U) : 1;
    plan.accumulate = plan.pipeline * *rc::gen::inRange(1U, 5U);
    plan.recompute = *rc::gen::element(Recompute::kNone, Recompute::kFull);
    RC_PRE(problems_of(plan, network).empty());
    const PipelineSchedule schedule = schedule_of(plan);
    const auto found = best_partition(network, a100(), plan, schedule);
    RC_ASSERT(is_partition(found, schedule.stages(), network));
    const double least = seconds(network, plan, schedule, found);
    const auto balanced = balanced_partition(network, a100(), plan, schedule.stages());
    constexpr double kRounding = 1 + 1e-9;
    RC_ASSERT(least <= kRounding * seconds(network, plan, schedule, balanced));
    const auto equal = equal_partition(network, schedule.stages());
    if (!equal.empty())
        RC_ASSERT(least <= kRounding * seconds(network, plan, schedule, equal));
}

/// Llama 3 405B's division: 126 blocks, and the embedding and the head alone, over 16 devices of 8
/// stages. Stages of two blocks among such of one would make each device wait.
TEST(AutoPartition, ManyStagesOfABlockEach) {
    const Network network = test_data::small_gpt(62);
    ParallelPlan plan;
    plan.pipeline = 8;
    plan.schedule = "interleaved_1f1b";
    plan.chunks = 8;
    plan.accumulate = 16;
    const PipelineSchedule schedule = schedule_of(plan);
    const auto found = best_partition(network, a100(), plan, schedule);
    const double least = seconds(network, plan, schedule, found);
    const StageWork blocks(network, a100(), plan, equal_partition(network, 64));
    const double block =
        blocks.seconds(PassKind::kForward, 1) + blocks.seconds(PassKind::kBackward, 1);
    // 16 micro-batches of 8 blocks on a device, and the way through the pipeline once.
    EXPECT_LT(least, 1.05 * block * (16 * 8 + 7));
}

TEST(AutoPartition, TheHeadMayStandAloneWhereItTakesLong) {
    // A head of many words takes as long as several blocks of this width.
    GptShape shape;
    shape.layers = 6;
    shape.hidden = 512;
    shape.heads = 8;
    shape.sequence = 256;
    shape.vocabulary = 200'000;
    const Network network = decoder("small", shape);
    ParallelPlan plan;
    plan.pipeline = 3;
    plan.accumulate = 12;
    const PipelineSchedule schedule = schedule_of(plan);
    const auto found = best_partition(network, a100(), plan, schedule);
    EXPECT_LT(
        seconds(network, plan, schedule, found),
        seconds(network, plan, schedule, balanced_partition(network, a100(), plan, 3)));
    EXPECT_EQ(network.layers[found.back()].name, "ln_f");
}

/// Nothing of it is a block: neither are there pieces to share out equally.
TEST(AutoPartition, ALayeredNetworkWithoutBlocksIsCut) {
    Network network = test_data::small_gpt(6);
    for (Layer& layer : network.layers)
        layer.block = kNoBlock;
    for (const std::uint32_t stages : {2U, 3U, 5U}) {
        EXPECT_TRUE(equal_partition(network, stages).empty());
        ParallelPlan plan;
        plan.pipeline = stages;
        plan.accumulate = stages;
        const PipelineSchedule schedule = schedule_of(plan);
        EXPECT_TRUE(is_partition(best_partition(network, a100(), plan, schedule), stages, network));
    }
}

TEST(AutoPartition, WithoutFlushTheLongestStageCounts) {
    const Network network = test_data::small_gpt(7);
    ParallelPlan plan;
    plan.pipeline = 3;
    plan.schedule = "1f1b_async";
    EXPECT_EQ(
        best_partition(network, a100(), plan, schedule_of(plan)),
        balanced_partition(network, a100(), plan, 3));
}

}  // namespace
}  // namespace switchfold::auto_partition_test
