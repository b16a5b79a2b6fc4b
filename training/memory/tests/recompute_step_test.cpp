// SPDX-License-Identifier: Apache-2.0
#include "training/memory/tests/made_step.h"
#include "training/network/zoo/zoo.h"

#include <rapidcheck/gtest.h>

#include <limits>
#include <string>

namespace switchfold::recompute_step_test {
namespace {

using namespace made_step;

ParallelPlan blocks_again() {
    ParallelPlan plan;
    plan.micro_batch = 8;
    plan.recompute = Recompute::kFull;
    return plan;
}

MemoryChoice all_travels() {
    MemoryChoice choice;
    choice.planner = OffloadPlanner::kOffloadAll;
    return choice;
}

/// Korthikanti et al., full recomputation: blocks keep their inputs alone, and run once more.
TEST(MemoryStep, BlocksThatRunAgainTakeTheirForwardTwiceAndKeepTheirInputs) {
    const Network network = small_gpt();
    ParallelPlan plan;
    plan.micro_batch = 8;
    const Made kept(network, plan, all_stays(UpdatePolicy::kBatch));
    plan.recompute = Recompute::kFull;
    const Made again(network, plan, all_stays(UpdatePolicy::kBatch));
    double blocks = 0;
    for (std::size_t i = 0; i < network.layers.size(); ++i)
        if (network.layers[i].block != kNoBlock)
            blocks += again.memory.facts.times[i].forward;
    EXPECT_GT(blocks, 0);
    EXPECT_NEAR(seconds_of_kernels(again.graph), seconds_of_kernels(kept.graph) + blocks, 1e-9);
    EXPECT_NEAR(
        to_seconds(alone(again.graph).makespan), to_seconds(alone(kept.graph).makespan) + blocks,
        1e-9);
    // Retained for the whole iteration: the inputs of four blocks, and what lies outside of them.
    const std::uint64_t input = std::uint64_t{8} * 256 * 512 * kept.memory.facts.options.element;
    const auto retained = [](const Made& made) {
        std::uint64_t bytes = 0;
        for (std::size_t i = 0; i < made.memory.schedule.items.size(); ++i)
            if (made.memory.plan.retained[i] &&
                made.memory.schedule.items[i].kind == MemoryClass::kActivations)
                bytes += made.memory.schedule.items[i].bytes;
        return bytes;
    };
    EXPECT_GE(retained(again), 4 * input);
    EXPECT_LT(retained(again), retained(kept) / 2);
    EXPECT_LT(
        fullest(again.graph, alone(again.graph), kAll),
        fullest(kept.graph, alone(kept.graph), kAll));
}

double extra_seconds(const Made& made) {
    double seconds = 0;
    for (const LayerRange& range : made.memory.facts.options.again)
        for (std::uint32_t layer = range.first; layer < range.end; ++layer)
            seconds += made.memory.facts.times[layer].forward;
    return seconds;
}

/// Chen et al. 2016: two blocks together keep one input, and need the memory of both at once.
TEST(MemoryStep, TwoBlocksTogetherKeepOneInput) {
    const Network network = small_gpt();
    ParallelPlan plan = blocks_again();
    const Made one(network, plan, all_travels());
    plan.recompute_every = 2;
    const Made two(network, plan, all_travels());
    EXPECT_EQ(one.memory.facts.options.again.size(), 4U);
    EXPECT_EQ(two.memory.facts.options.again.size(), 2U);
    EXPECT_EQ(extra_seconds(one), extra_seconds(two));
    EXPECT_NEAR(seconds_of_kernels(one.graph), seconds_of_kernels(two.graph), 1e-9);
    const std::uint64_t input = std::uint64_t{8} * 256 * 512 * one.memory.facts.options.element;
    EXPECT_LE(two.memory.plan.bytes_in + 2 * input, one.memory.plan.bytes_in);
    EXPECT_GT(two.memory.plan.staging_bytes, one.memory.plan.staging_bytes);
}

/// Korthikanti et al., selective: attention runs again, and its scores are not kept.
TEST(MemoryStep, SelectiveRecomputationKeepsNoScores) {
    const Network network = small_gpt();
    ParallelPlan plan;
    plan.micro_batch = 8;
    plan.attention = AttentionKernels::kUnfused;
    const Made kept(network, plan, all_stays(UpdatePolicy::kBatch));
    plan.recompute = Recompute::kSelective;
    const Made again(network, plan, all_stays(UpdatePolicy::kBatch));
    // Two bytes each of softmax and dropout and a mask's one, of 8 heads and 256 x 256 scores.
    const std::uint64_t scores = std::uint64_t{5} * 8 * 8 * 256 * 256;
    // The gradient of an attention's output, made above, is not open while the attention runs
    // again.
    const std::uint64_t gradient =
        std::uint64_t{8} * 256 * 512 * again.memory.facts.options.element;
    EXPECT_EQ(
        kept.memory.plan.candidate_bytes + 4 * gradient,
        again.memory.plan.candidate_bytes + 4 * scores);
    EXPECT_EQ(again.memory.facts.options.again.size(), 4U);
    EXPECT_GT(extra_seconds(again), 0);
    EXPECT_NEAR(
        seconds_of_kernels(again.graph), seconds_of_kernels(kept.graph) + extra_seconds(again),
        1e-9);
    // Kept scores may go to the host instead.
    plan.recompute = Recompute::kNone;
    EXPECT_GE(Made(network, plan, all_travels()).memory.plan.bytes_out, 3 * scores);
}

/// What the exact planner repeats takes no longer than what any rule does, where that fits.
RC_GTEST_PROP(MemoryStep, ExactRecomputationIsNoSlowerThanTheRules, ()) {
    ParallelPlan plan;
    plan.micro_batch = *rc::gen::inRange(2U, 9U);
    plan.attention = *rc::gen::element(AttentionKernels::kFused, AttentionKernels::kUnfused);
    const Network network =
        *rc::gen::arbitrary<bool>()
            ? small_gpt()
            : *find_network(*rc::gen::element<std::string>("alexnet", "resnet18"));
    MemoryChoice choice = random_choice();
    choice.planner = *rc::gen::element(OffloadPlanner::kNone, OffloadPlanner::kOptimal);
    choice.bytes = Bytes(
        bytes_that_need_no_plan(network, plan) * *rc::gen::inRange<std::uint64_t>(40, 105) / 100);
    const auto seconds = [&](Recompute recompute) {
        plan.recompute = recompute;
        const Made made(network, plan, choice);
        return made.memory.plan.refusal.empty() ? to_seconds(alone(made.graph).makespan)
                                                : std::numeric_limits<double>::infinity();
    };
    const double exact = seconds(Recompute::kExact);
    for (const Recompute rule : {Recompute::kNone, Recompute::kSelective, Recompute::kFull})
        RC_ASSERT(exact <= seconds(rule) + 1e-8);
}

/// Between the memory of all blocks kept and of all repeated, the exact planner repeats a part.
TEST(MemoryStep, ExactRecomputationRepeatsAsLittleAsFits) {
    const Network network = small_gpt();
    ParallelPlan plan;
    plan.micro_batch = 8;
    MemoryChoice choice = all_stays(UpdatePolicy::kBatch);
    choice.bytes = mebibytes(80 * 1024);
    const std::uint64_t kept = Made(network, plan, choice).memory.plan.floor_bytes();
    plan.recompute = Recompute::kFull;
    const Made full(network, plan, choice);
    const std::uint64_t again = full.memory.plan.floor_bytes();
    ASSERT_LT(again, kept);
    plan.recompute = Recompute::kExact;
    double before = 0;
    for (const std::uint64_t quarters : {4U, 3U, 2U, 1U}) {
        choice.bytes = Bytes(again + (kept - again) / 4 * quarters + 4);
        const Made made(network, plan, choice);
        EXPECT_TRUE(made.memory.plan.refusal.empty());
        EXPECT_GE(extra_seconds(made), before);
        before = extra_seconds(made);
    }
    EXPECT_GT(before, 0);
    EXPECT_LT(before, extra_seconds(full));
    choice.bytes = Bytes(again / 4);
    const Made none(network, plan, choice);
    EXPECT_FALSE(none.memory.plan.refusal.empty());
    EXPECT_LT(largest_micro_batch(none.step, none.memory), 8U);
}

/// The micro-batch that a refusal names fits, whatever plans the rest.
TEST(MemoryStep, TheMicroBatchOfARefusalFitsWithExactRecomputation) {
    const Network network = *find_network("vgg16");
    ParallelPlan plan;
    plan.recompute = Recompute::kExact;
    plan.datatype = Datatype::kFloat32;
    for (const OffloadPlanner planner :
         {OffloadPlanner::kNone, OffloadPlanner::kFirstFit, OffloadPlanner::kOptimal}) {
        MemoryChoice choice;
        choice.planner = planner;
        choice.updater = Updater::kHost;
        choice.bytes = mebibytes(1440);
        choice.granule = mebibytes(1);
        choice.rates = kRates;
        plan.micro_batch = 16;
        const Made large(network, plan, choice);
        EXPECT_NE(large.memory.plan.refusal, "");
        plan.micro_batch = largest_micro_batch(large.step, large.memory);
        EXPECT_GT(plan.micro_batch, 0U);
        EXPECT_EQ(Made(network, plan, choice).memory.plan.refusal, "")
            << name_of(planner) << ", " << plan.micro_batch;
    }
}

/// Offload and recomputation together: what blocks keep goes to the host, what they make again does
/// not.
TEST(MemoryStep, InputsOfBlocksThatRunAgainTravel) {
    const Network network = small_gpt();
    const Made made(network, blocks_again(), all_travels());
    const std::uint64_t input = std::uint64_t{8} * 256 * 512 * made.memory.facts.options.element;
    std::uint64_t travel = 0;
    for (const MemoryItem& item : made.memory.schedule.items)
        if (item.kind == MemoryClass::kActivations)
            travel += item.bytes * item.prefetches;
    EXPECT_GE(travel, 3 * input);
    EXPECT_EQ(copied(made.graph, CopyKind::kHostToDevice), made.memory.plan.bytes_in);
    for (const MemoryItem& item : made.memory.schedule.items) {
        const bool again = item.name.starts_with("again ");
        EXPECT_TRUE(item.scratch || !again) << item.name;
    }
}

}  // namespace
}  // namespace switchfold::recompute_step_test
