// SPDX-License-Identifier: Apache-2.0
// Units of fully sharded weights by bytes, and gradients that are copied to buckets.
#include "training/plan/step/plan_memory.h"
#include "training/plan/step/plan_step.h"
#include "training/plan/tests/small_gpt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace switchfold::sharded_units_test {
namespace {

using test_data::a100;
using test_data::small_gpt;

ParallelPlan by_units(Bytes unit) {
    ParallelPlan plan;
    plan.data = 4;
    plan.sharding = Sharding::kParameters;
    plan.gradient = Datatype::kBfloat16;
    plan.unit = unit;
    return plan;
}

struct Travelling {
    std::vector<std::uint32_t> operations;  ///< in the order in which they are called
    std::vector<std::uint64_t> gathered;    ///< bytes
    std::vector<std::uint64_t> scattered;
    std::string order;  ///< g and s
};

Travelling travelling(const ExecutionGraph& graph) {
    Travelling all;
    const auto& operations = graph.ranks.at(1)->operations;
    for (std::uint32_t i = 0; i < operations.size(); ++i)
        if (const auto* c = std::get_if<CollectiveOperation>(&operations[i].body)) {
            const bool gathers = c->kind == CollectiveKind::kAllGather;
            EXPECT_TRUE(gathers || c->kind == CollectiveKind::kReduceScatter);
            (gathers ? all.gathered : all.scattered).push_back(c->bytes.count());
            all.order += gathers ? 'g' : 's';
            all.operations.push_back(i);
        }
    return all;
}

TEST(ShardedUnits, AreGatheredTwiceButTheLastAndScatteredOnce) {
    const Network network = small_gpt(8);
    // 52 MB of weights; a unit ends with the layer that fills it.
    const ExecutionGraph graph = plan_step({network, a100(), by_units(mebibytes(7))});
    check(graph);
    const Travelling all = travelling(graph);
    const std::size_t units = all.scattered.size();
    ASSERT_EQ(units, 6U);
    ASSERT_EQ(all.gathered.size(), 2 * units - 1);
    std::uint64_t weights = 0;
    for (std::size_t unit = 0; unit < units; ++unit) {
        weights += all.gathered[unit];
        EXPECT_EQ(all.gathered[unit], all.scattered[units - 1 - unit]) << unit;
        EXPECT_EQ(all.gathered[unit], all.gathered[2 * units - 2 - unit]) << unit;
        EXPECT_GE(all.gathered[unit], mebibytes(7).count());
    }
    EXPECT_GE(weights, 2 * parameters(network));
    EXPECT_LE(weights, 2 * parameters(network) + 64 * units);
    // The next unit's weights come before the gradients of the one that has ended.
    EXPECT_EQ(all.order, "gggggggsgsgsgsgss");
}

TEST(ShardedUnits, OfWhichTwoAreThereAtMost) {
    const ExecutionGraph graph = plan_step({small_gpt(8), a100(), by_units(mebibytes(7))});
    const auto& operations = graph.ranks.at(1)->operations;
    const Travelling all = travelling(graph);
    // Kernels that wait for the gathers of all units upwards, then of all but the last downwards.
    std::vector<std::uint32_t> begins;
    std::vector<std::uint32_t> gathers;
    for (std::size_t i = 0; i < all.operations.size(); ++i)
        if (all.order[i] == 'g')
            gathers.push_back(all.operations[i]);
    for (const std::uint32_t gather : gathers)
        for (std::uint32_t i = 0; i < operations.size(); ++i)
            if (std::holds_alternative<KernelOperation>(operations[i].body))
                for (const std::uint32_t d : operations[i].dependencies)
                    if (d == gather)
                        begins.push_back(i);
    ASSERT_EQ(begins.size(), gathers.size()) << "one kernel waits for each";
    // Unit u arrives beside unit u - 1, behind the end of unit u - 2. Behind the last one the
    // backward pass begins: the unit before it comes beside that.
    EXPECT_TRUE(operations[gathers[0]].dependencies.empty());
    EXPECT_TRUE(operations[gathers[1]].dependencies.empty());
    const std::size_t turn = all.scattered.size();
    for (std::size_t i = 2; i < gathers.size(); ++i) {
        const auto& ends = operations[gathers[i]].dependencies;
        ASSERT_FALSE(ends.empty()) << i;
        const std::uint32_t last = *std::max_element(ends.begin(), ends.end());
        EXPECT_GE(last, begins[i - 2]) << i;
        EXPECT_LT(last, begins[i == turn ? i : i - 1]) << i;
    }
}

TEST(ShardedUnits, OfManyMicroBatchesAreLeftWhereBackwardFollows) {
    const Network network = small_gpt(8);
    ParallelPlan plan = by_units(mebibytes(7));
    plan.accumulate = 3;
    const auto gathers = [&](const char* schedule) {
        plan.schedule = schedule;
        return travelling(plan_step({network, a100(), plan})).gathered.size();
    };
    EXPECT_EQ(gathers("1f1b"), 3U * 11);
    EXPECT_EQ(gathers("gpipe"), 3U * 12 - 1) << "one backward pass follows its forward pass";
}

TEST(ShardedUnits, OneHoldsASmallNetwork) {
    const Travelling all = travelling(plan_step({small_gpt(1), a100(), by_units(mebibytes(1000))}));
    EXPECT_EQ(all.order, "gs");
}

TEST(ShardedUnits, AreNotOfOtherPlans) {
    ParallelPlan plan = by_units(mebibytes(7));
    plan.sharding = Sharding::kGradients;
    const PlanProblems problems = problems_of(plan, small_gpt());
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems.front().first, "/unit");
}

TEST(ShardedUnits, ThatAreOpenAreCountedAsMemory) {
    // Each of these layers is a unit: 20, 30 and 16 million parameters.
    Network network;
    for (const std::uint64_t parameters : {20U, 30U, 16U}) {
        Layer layer{"layer", "linear", parameters * 1'000'000};
        layer.name += std::to_string(parameters);
        layer.out_elements = 10;
        network.layers.push_back(layer);
    }
    ParallelPlan plan = by_units(mebibytes(24));
    plan.gradient = Datatype::kFloat32;
    const MemoryBytes memory = plan_memory({network, a100(), plan}).front();
    // In the middle: weights of two units at 2 B, gradients of two at 4 B.
    EXPECT_EQ(memory[MemoryClass::kBuckets], (30 + 20) * 2e6 + (30 + 16) * 4e6);
    EXPECT_EQ(memory[MemoryClass::kWeights], 66e6 / 4 * 2);
}

/// Bytes of the copies to buckets.
double copied(const ExecutionGraph& graph) {
    double bytes = 0;
    for (const Operation& operation : graph.ranks.front()->operations)
        if (graph.names[operation.name] == "gradients to bucket") {
            const auto& kernel = std::get<KernelOperation>(operation.body);
            EXPECT_EQ(kernel.bytes_read, kernel.bytes_written);
            bytes += static_cast<double>(kernel.bytes_read.count());
        }
    return bytes;
}

TEST(CopiedGradients, AreReadAndWrittenOnce) {
    const Network network = small_gpt(4);
    const auto all = 4 * static_cast<double>(parameters(network));
    ParallelPlan plan;
    plan.data = 4;
    EXPECT_EQ(copied(plan_step({network, a100(), plan})), 0);
    plan.gradient_as_bucket_view = false;
    for (const bool overlap : {true, false}) {
        plan.overlap_gradients = overlap;
        for (const Sharding sharding : {Sharding::kNone, Sharding::kOptimizer}) {
            plan.sharding = sharding;
            EXPECT_NEAR(copied(plan_step({network, a100(), plan})), all, 64);
        }
    }
    plan.sharding = Sharding::kGradients;
    EXPECT_EQ(copied(plan_step({network, a100(), plan})), 0);
    plan.sharding = Sharding::kNone;
    plan.data = 1;
    EXPECT_EQ(copied(plan_step({network, a100(), plan})), 0);
}

}  // namespace
}  // namespace switchfold::sharded_units_test
