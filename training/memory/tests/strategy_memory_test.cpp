// SPDX-License-Identifier: Apache-2.0
#include "training/memory/accounting/strategy_memory.h"

#include "training/network/zoo/zoo.h"
#include "training/plan/step/plan_memory.h"
#include "training/strategies/data_parallel.h"
#include "training/strategies/fully_sharded.h"
#include "training/strategies/optimizer_sharded.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace switchfold::strategy_memory_test {
namespace {

constexpr std::uint32_t kRanks = 4;
constexpr std::uint32_t kBatch = 3;

TrainingOptions options() {
    TrainingOptions o;
    o.ranks = kRanks;
    o.batch = kBatch;
    o.flops = 1e14;
    o.bytes = 1e12;
    return o;
}

StrategyMemory memory_of(const Network& network, StateShards shards, std::uint32_t batch = kBatch) {
    DataParallelOptions parallel;
    static_cast<TrainingOptions&>(parallel) = options();
    FullyShardedOptions sharded;
    static_cast<TrainingOptions&>(sharded) = options();
    const ExecutionGraph step =
        shards == StateShards::kNone        ? data_parallel_step(network.layers, parallel)
        : shards == StateShards::kOptimizer ? optimizer_sharded_step(network.layers, parallel)
                                            : fully_sharded_step(network.layers, sharded);
    return strategy_memory(network, step, {shards, kRanks, batch, 2, 1000});
}

MemoryBytes plan_of(const Network& network, Sharding sharding) {
    ParallelPlan plan;
    plan.data = kRanks;
    plan.micro_batch = kBatch;
    plan.sharding = sharding;
    plan.gradient = Datatype::kBfloat16;
    return plan_memory({network, KernelTimes(test_data::ampere()), plan}).front();
}

TEST(StrategyMemory, IsThatOfAPlanThatDoesTheSame) {
    for (const char* name : {"resnet50", "vgg16", "gpt2_small", "bert_large", "inception_v3"}) {
        const Network network = *find_network(name);
        const MemoryBytes plan = plan_of(network, Sharding::kNone);
        const StrategyMemory none = memory_of(network, StateShards::kNone);
        EXPECT_DOUBLE_EQ(double(none.weights), plan[MemoryClass::kWeights]) << name;
        EXPECT_DOUBLE_EQ(double(none.moments), plan[MemoryClass::kMoments]) << name;
        EXPECT_DOUBLE_EQ(double(none.gradients), plan[MemoryClass::kGradients]) << name;
        EXPECT_NEAR(
            double(none.activations), plan[MemoryClass::kActivations],
            1e-9 * plan[MemoryClass::kActivations])
            << name;
        // Buckets hold 32 bits, gradients 16; a bucket may be padded for its ranks.
        EXPECT_GE(none.buckets, 2 * none.gradients) << name;
        EXPECT_LT(none.buckets, 2 * none.gradients + 4096) << name;
        const StrategyMemory shared = memory_of(network, StateShards::kOptimizer);
        EXPECT_NEAR(
            double(shared.moments), plan_of(network, Sharding::kOptimizer)[MemoryClass::kMoments],
            12.0 * double(network.layers.size()))
            << name;
        EXPECT_EQ(shared.weights, none.weights);
        EXPECT_EQ(shared.buckets, none.buckets);
        const MemoryBytes zero3 = plan_of(network, Sharding::kParameters);
        const StrategyMemory all = memory_of(network, StateShards::kAll);
        const double rounding = 12.0 * double(network.layers.size());
        EXPECT_NEAR(double(all.weights), zero3[MemoryClass::kWeights], rounding) << name;
        EXPECT_NEAR(double(all.gradients), zero3[MemoryClass::kGradients], rounding) << name;
        EXPECT_NEAR(double(all.moments), zero3[MemoryClass::kMoments], rounding) << name;
        EXPECT_EQ(all.activations, none.activations);
    }
}

TEST(StrategyMemory, UnitsThatAreOpenAreGatheredAndTheirGradientsWhole) {
    // Units of 24 MiB or more: each of these layers is one. 20, 30 and 16 million parameters.
    Network network;
    for (const std::uint64_t parameters : {20U, 30U, 16U}) {
        Layer layer{"layer", "linear", parameters * 1'000'000};
        layer.name += std::to_string(parameters);
        layer.out_elements = 10;
        network.layers.push_back(layer);
    }
    const StrategyMemory memory = memory_of(network, StateShards::kAll);
    // In the middle: weights of two units at 2 B, gradients of two at 4 B.
    EXPECT_EQ(memory.buckets, (30 + 20) * 2'000'000U + (30 + 16) * 4'000'000U);
    EXPECT_EQ(memory.channels, 1000U);
}

TEST(StrategyMemory, ActivationsGrowWithTheBatchAndAllIsTheSum) {
    const Network network = *find_network("resnet50");
    std::uint64_t before = 0;
    for (const std::uint32_t batch : {1U, 2U, 7U, 64U}) {
        const StrategyMemory memory = memory_of(network, StateShards::kNone, batch);
        EXPECT_EQ(
            memory.activations, batch * memory_of(network, StateShards::kNone, 1).activations);
        std::uint64_t sum = 0;
        for (const StrategyMemoryPart& part : kStrategyMemoryParts)
            sum += memory.*part.bytes;
        EXPECT_EQ(memory.all(), sum);
        EXPECT_GT(memory.all(), before);
        // The allocator loses a part of its last segments, some percent of many small tensors.
        EXPECT_LT(double(memory.allocator), 0.1 * double(memory.all()));
        before = memory.all();
    }
}

}  // namespace
}  // namespace switchfold::strategy_memory_test
