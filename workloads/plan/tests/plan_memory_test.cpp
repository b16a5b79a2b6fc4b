// SPDX-License-Identifier: Apache-2.0
#include "workloads/plan/step/plan_memory.h"

#include "workloads/network/decoder.h"
#include "workloads/network/zoo/zoo.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>

namespace switchfold {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

TEST(PlanMemory, WeightsAndMomentsAreThoseOfMegatron) {
    // Korthikanti et al. 2022: 18 bytes a parameter; 22B on 8 tensor-parallel ranks: 12 L h^2 of
    // them are 45.5625 GiB, embeddings, norms and biases come on top.
    ParallelPlan plan;
    plan.tensor = 8;
    plan.micro_batch = 4;
    plan.sequence = true;
    plan.recompute = Recompute::kSelective;
    const Network network = *find_network("gpt_22b");
    const KernelTimes times(testing::ampere());
    const MemoryBytes memory = plan_memory({network, times, plan}).front();
    const double blocks = 12.0 * 48 * 6144 * 6144 * 18 / 8;
    EXPECT_NEAR(blocks / kGiB, 45.5625, 1e-9);
    const double held = memory[MemoryClass::kWeights] + memory[MemoryClass::kGradients] +
                        memory[MemoryClass::kMoments];
    EXPECT_GT(held, blocks);
    EXPECT_LT(held, blocks * 1.03);
    // 34 s b h / t bytes a layer, 9.5625 GiB; without dropout's two masks 32, and head and loss.
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
    const KernelTimes times(testing::ampere());
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

}  // namespace
}  // namespace switchfold
