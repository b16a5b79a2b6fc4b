// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/plan_memory.h"

#include "training/network/decoder.h"
#include "training/network/zoo/zoo.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace switchfold::plan_memory_test {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

TEST(PlanMemory, WeightsAndMomentsAreThoseOfMegatron) {
    // Korthikanti et al. 2022: 18 bytes a parameter. For 22B on 8 tensor-parallel ranks, the 12 L
    // h^2 parameters take 45.5625 GiB; embeddings, norms and biases come on top.
    ParallelPlan plan;
    plan.tensor = 8;
    plan.micro_batch = 4;
    plan.sequence = true;
    plan.recompute = Recompute::kSelective;
    const Network network = *find_network("gpt_22b");
    const KernelTimes times(test_data::ampere());
    const MemoryBytes memory = plan_memory({network, times, plan}).front();
    const double blocks = 12.0 * 48 * 6144 * 6144 * 18 / 8;
    EXPECT_NEAR(blocks / kGiB, 45.5625, 1e-9);
    const double held = memory[MemoryClass::kWeights] + memory[MemoryClass::kGradients] +
                        memory[MemoryClass::kMoments];
    EXPECT_GT(held, blocks);
    EXPECT_LT(held, blocks * 1.03);
    // 34 s b h / t bytes a layer, 9.5625 GiB. Without dropout's two masks it is 32 s b h / t; the
    // head and the loss come on top.
    EXPECT_NEAR(memory[MemoryClass::kActivations] / kGiB, 9.5625 * 32 / 34, 1.0);
}

TEST(PlanMemory, ShardsAndVersionsDivideAndMultiply) {
    GptShape shape;
    shape.layers = 4;
    shape.hidden = 512;
    shape.heads = 8;
    shape.sequence = 128;
    shape.vocabulary = 1024;
    const Network network = decoder("small", shape);
    const KernelTimes times(test_data::ampere());
    ParallelPlan plan;
    plan.data = 4;
    const MemoryBytes whole = plan_memory({network, times, plan}).front();
    plan.sharding = Sharding::kOptimizer;
    const MemoryBytes zero1 = plan_memory({network, times, plan}).front();
    EXPECT_EQ(zero1[MemoryClass::kMoments], whole[MemoryClass::kMoments] / 4);
    EXPECT_EQ(zero1[MemoryClass::kGradients], whole[MemoryClass::kGradients]);
    plan.sharding = Sharding::kParameters;
    const MemoryBytes zero3 = plan_memory({network, times, plan}).front();
    EXPECT_EQ(zero3[MemoryClass::kWeights], whole[MemoryClass::kWeights] / 4);
    EXPECT_EQ(zero3[MemoryClass::kGradients], whole[MemoryClass::kGradients] / 4);
    ParallelPlan pipeline;
    pipeline.pipeline = 4;
    pipeline.schedule = "1f1b_async";
    const double one = plan_memory({network, times, pipeline})[0][MemoryClass::kWeights];
    pipeline.weights = WeightPolicy::kStash;
    EXPECT_EQ(plan_memory({network, times, pipeline})[0][MemoryClass::kWeights], 4 * one);
}

TEST(PlanMemory, AFusedGateKeepsNoOutputOfItsFunction) {
    LlamaShape shape;
    shape.layers = 3;
    shape.hidden = 512;
    shape.heads = 8;
    shape.kv_heads = 2;
    shape.feed_forward = 1536;
    shape.sequence = 128;
    shape.vocabulary = 1024;
    const Network network = decoder("small", shape);
    const KernelTimes times(test_data::ampere());
    ParallelPlan plan;
    plan.micro_batch = 2;
    plan.gate = GateKernels::kUnfused;
    const TrainingStep eager(network, KernelTimes(times), ParallelPlan(plan));
    plan.gate = GateKernels::kFused;
    const TrainingStep fused(network, KernelTimes(times), ParallelPlan(plan));
    const double of_a_gate = 2.0 * 2 * 128 * 1536;  // 2 B, 2 samples
    EXPECT_DOUBLE_EQ(
        plan_memory(eager).front()[MemoryClass::kActivations] -
            plan_memory(fused).front()[MemoryClass::kActivations],
        3 * of_a_gate);
    // One kernel less for each block and direction, and the rest as before.
    const auto kernels = [](const TrainingStep& step, PassKind kind) {
        return step.work().seconds(kind, 0);
    };
    for (const PassKind kind : {PassKind::kForward, PassKind::kBackward}) {
        EXPECT_LT(kernels(fused, kind), kernels(eager, kind));
        EXPECT_GT(kernels(fused, kind), 0.7 * kernels(eager, kind));
    }
}

/// Memory that recomputation fills again: the sum over all blocks and the largest block.
struct Again {
    double all = 0;
    double most = 0;
};
Again again_of(const StageMemory& memory) {
    Again again;
    for (const RecomputedLayers& part : memory.again) {
        again.all += part.workspace;
        again.most = std::max(again.most, part.workspace);
    }
    return again;
}

TEST(PlanMemory, WhatIsNotKeptIsWorkspaceOfItsBlockOnceItIsComputedAgain) {
    GptShape shape;
    shape.layers = 6;
    shape.hidden = 512;
    shape.heads = 8;
    shape.sequence = 256;
    shape.vocabulary = 1024;
    const Network network = decoder("small", shape);
    const KernelTimes times(test_data::ampere());
    ParallelPlan plan;
    plan.micro_batch = 2;
    plan.attention = AttentionKernels::kUnfused;
    const auto memory_of = [&](Recompute recompute) {
        plan.recompute = recompute;
        return TrainingStep(network, times, plan).work().memory(0);
    };
    const StageMemory none = memory_of(Recompute::kNone);
    EXPECT_TRUE(none.again.empty());
    // Residual dropout keeps a mask of each sum: two a block, one of the positions.
    plan.residual_dropout = true;
    EXPECT_EQ(
        memory_of(Recompute::kNone).kept.until_input_gradient,
        none.kept.until_input_gradient + 13.0 * 2 * 256 * 512);
    plan.residual_dropout = false;
    // Attention keeps an output and a mask less without dropout: 3 of 5 B a score.
    plan.attention_dropout = false;
    EXPECT_LT(
        memory_of(Recompute::kNone).kept.until_input_gradient, none.kept.until_input_gradient);
    plan.attention_dropout = true;
    // Repeated keys and values are kept beside what they were copied from, and not made again with
    // the scores.
    plan.repeat_keys = true;
    constexpr double kCopies = 6 * 2.0 * 2 * 2 * 256 * 512;
    EXPECT_EQ(
        memory_of(Recompute::kNone).kept.until_input_gradient,
        none.kept.until_input_gradient + kCopies);
    EXPECT_EQ(
        memory_of(Recompute::kSelective).kept.until_input_gradient,
        none.kept.until_input_gradient + kCopies - 6 * 5.0 * 8 * 2 * 256 * 256);
    EXPECT_EQ(
        memory_of(Recompute::kFull).again.front().workspace -
            [&] {
                plan.repeat_keys = false;
                return memory_of(Recompute::kFull).again.front().workspace;
            }(),
        kCopies / 6);
    plan.repeat_keys = false;
    EXPECT_EQ(none.kept.again, 0);

    // Selective recomputation repeats the scores: 2 bytes each from softmax and dropout, and a mask
    // of one byte.
    const StageMemory selective = memory_of(Recompute::kSelective);
    const double scores = 5.0 * 8 * 2 * 256 * 256;
    EXPECT_EQ(selective.again.size(), 6U);
    EXPECT_EQ(again_of(selective).all, 6 * scores);
    EXPECT_EQ(selective.kept.again, scores);
    EXPECT_EQ(selective.kept.until_input_gradient, none.kept.until_input_gradient - 6 * scores);

    // Full recomputation keeps Megatron's 2 s b h a block. What follows the blocks is kept too: the
    // inputs of the last norm and of the head, and the loss's probabilities.
    const StageMemory full = memory_of(Recompute::kFull);
    const double input = 2.0 * 256 * 2 * 512;
    const double probabilities = 2.0 * 256 * 2 * 1024;
    EXPECT_EQ(full.again.size(), 6U);
    EXPECT_EQ(full.kept.until_input_gradient, 8 * input + probabilities);
    EXPECT_EQ(full.kept.until_input_gradient + again_of(full).all, none.kept.until_input_gradient);
    EXPECT_EQ(full.kept.again, again_of(full).most);
    // A separate weight-gradient pass needs the recomputed activations of all blocks.
    EXPECT_GT(full.kept.until_weight_gradient, full.kept.until_input_gradient);
    EXPECT_GT(full.kept.again_before_weights, full.kept.again);
}

/// A block of LLaMA's kind with FlashAttention, fused gates, RMS norms and sequence parallelism:
/// the inputs of both norms and their outputs, which the products behind them share; queries, keys,
/// values and the result of attention; both inputs of the gate and its result. All is divided by
/// the tensor-parallel ranks, and the turning of queries and keys keeps nothing.
TEST(PlanMemory, InterleavedStagesHoldWhatTheirBlocksKeep) {
    LlamaShape shape;
    shape.layers = 12;
    shape.hidden = 512;
    shape.heads = 8;
    shape.kv_heads = 2;
    shape.feed_forward = 1536;
    shape.sequence = 128;
    shape.vocabulary = 1024;
    const Network network = decoder("small", shape);
    const KernelTimes times(test_data::ampere());
    ParallelPlan plan;
    plan.tensor = 2;
    plan.sequence = true;
    plan.pipeline = 4;
    plan.schedule = "interleaved_1f1b";
    plan.chunks = 3;
    plan.accumulate = 12;
    plan.partition = equal_partition(network, 12);
    const TrainingStep step(network, KernelTimes(times), ParallelPlan(plan));
    const double block = 2.0 * 128 * (4 * 512 + (2 * 512 + 2 * 128) + 3 * 1536) / 2;
    EXPECT_DOUBLE_EQ(step.work().kept(5).until_input_gradient, block);
    // (p - 1 - r) 2 + (v - 1) p forwards before the first backward, and one more.
    const std::vector<MemoryBytes> devices = plan_memory(step);
    for (const std::uint32_t r : {1U, 2U})
        EXPECT_DOUBLE_EQ(devices[r][MemoryClass::kActivations], ((3 - r) * 2 + 2 * 4 + 1) * block)
            << r;
    // Norms whose backward reads their output do not keep their input.
    plan.norm_keeps = NormKeeps::kOutput;
    const TrainingStep lean(network, KernelTimes(times), ParallelPlan(plan));
    EXPECT_DOUBLE_EQ(block - lean.work().kept(5).until_input_gradient, 2.0 * 128 * 2 * 512 / 2);
    // The lower halves of 32-bit weights instead of whole ones.
    plan.masters = MasterWeights::kRemainder;
    const TrainingStep halves(network, KernelTimes(times), ParallelPlan(plan));
    EXPECT_DOUBLE_EQ(
        plan_memory(halves)[1][MemoryClass::kMoments], devices[1][MemoryClass::kMoments] * 10 / 12);
}

/// PyTorch's cross entropy of 32-bit logits keeps log_softmax's result; backward, its gradient and
/// that of the logits stand beside it, and are gone before the blocks' backward.
TEST(PlanMemory, AnEagerLossHasTwoMoreTensorsOfLogitsInItsBackward) {
    const Network network = *find_network("gpt2_small");
    const KernelTimes times(test_data::ampere());
    ParallelPlan plan;
    const double logits = 1024.0 * 50'257;
    const auto memory_of = [&](LossKernels loss) {
        plan.loss = loss;
        return plan_memory({network, times, plan}).front();
    };
    const MemoryBytes fused = memory_of(LossKernels::kFused);
    const MemoryBytes unfused = memory_of(LossKernels::kUnfused);
    const MemoryBytes eager = memory_of(LossKernels::kEager);
    EXPECT_DOUBLE_EQ(
        unfused[MemoryClass::kActivations] - fused[MemoryClass::kActivations], 2 * logits);
    EXPECT_DOUBLE_EQ(eager[MemoryClass::kActivations], unfused[MemoryClass::kActivations]);
    EXPECT_DOUBLE_EQ(eager[MemoryClass::kWorkspace], 8 * logits);
    const TrainingStep step(network, KernelTimes(times), ParallelPlan(plan));
    double held = 0;
    double most = 0;
    for (const WorkItem& item : step.work().work(PassKind::kBackward, 0))
        if (const auto* hold = std::get_if<HoldItem>(&item);
            hold != nullptr && hold->what == MemoryClass::kWorkspace) {
            held += static_cast<double>(hold->bytes);
            most = std::max(most, held);
        }
    EXPECT_DOUBLE_EQ(most, 8 * logits);
    EXPECT_EQ(held, 0);
}

TEST(PlanMemory, SomeBlocksAreRecomputed) {
    GptShape shape;
    shape.layers = 8;
    shape.hidden = 512;
    shape.heads = 8;
    shape.sequence = 256;
    shape.vocabulary = 1024;
    const Network network = decoder("small", shape);
    const KernelTimes times(test_data::ampere());
    ParallelPlan plan;
    const auto memory_of = [&] { return TrainingStep(network, times, plan).work().memory(0); };
    const double none = memory_of().kept.until_input_gradient;
    plan.recompute = Recompute::kFull;
    const double full = memory_of().kept.until_input_gradient;
    // Every second block: half of what is saved; block 1 is the first.
    plan.recompute_one_in = 2;
    const StageMemory second = memory_of();
    EXPECT_EQ(second.again.size(), 4U);
    EXPECT_EQ(network.layers[second.again.front().first].block, 1U);
    EXPECT_DOUBLE_EQ(second.kept.until_input_gradient, (none + full) / 2);
    plan.recompute_one_in = 3;
    EXPECT_DOUBLE_EQ(memory_of().kept.until_input_gradient, none - (none - full) * 2 / 8);
    plan.recompute_one_in = 1;
    // The first three blocks of each of two stages.
    plan.recompute_blocks = 3;
    plan.pipeline = 2;
    plan.accumulate = 2;
    const TrainingStep step(network, times, plan);
    for (const std::uint32_t stage : {0U, 1U})
        EXPECT_EQ(step.work().memory(stage).again.size(), 3U) << stage;
    EXPECT_EQ(network.layers[step.work().memory(1).again.front().first].block, 4U);
    // They choose among the blocks that full recomputes, in one way.
    plan.recompute_one_in = 2;
    EXPECT_EQ(problems_of(plan, network).front().first, "/recompute_blocks");
    plan.recompute = Recompute::kSelective;
    plan.recompute_blocks = 0;
    EXPECT_EQ(problems_of(plan, network).front().first, "/recompute_one_in");
    plan.recompute_one_in = 1;
    plan.recompute_blocks = 1;
    EXPECT_EQ(problems_of(plan, network).front().first, "/recompute_blocks");
}

TEST(PlanMemory, GradientsThatAreNoViewsOfBucketsAreHeldTwice) {
    // ResNet-50's 25,557,032 parameters of 4 bytes are 102 MB.
    const Network network = *find_network("resnet50");
    const KernelTimes times(test_data::ampere());
    ParallelPlan plan;
    plan.data = 2;
    plan.datatype = plan.gradient = Datatype::kFloat32;
    const double view = plan_memory({network, times, plan}).front().all();
    plan.gradient_as_bucket_view = false;
    const MemoryBytes twice = plan_memory({network, times, plan}).front();
    EXPECT_EQ(twice[MemoryClass::kBuckets], 25'557'032 * 4.0);
    EXPECT_EQ(twice.all() - view, 25'557'032 * 4.0);
    plan.data = 1;
    EXPECT_EQ(plan_memory({network, times, plan}).front()[MemoryClass::kBuckets], 0);
}

}  // namespace
}  // namespace switchfold::plan_memory_test
