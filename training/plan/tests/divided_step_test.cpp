// SPDX-License-Identifier: Apache-2.0
// Steps whose replicas differ in samples or GPUs, and steps whose micro-batches differ in size.
#include "training/network/decoder.h"
#include "training/plan/division/replica_times.h"
#include "training/plan/step/plan_memory.h"
#include "training/plan/step/plan_step.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>

namespace switchfold::divided_step_test {
namespace {

Network small_gpt() {
    GptShape shape;
    shape.layers = 4;
    shape.hidden = 512;
    shape.heads = 8;
    shape.sequence = 128;
    shape.vocabulary = 1024;
    return decoder("small", shape);
}

const KernelTimes& a100() {
    static const KernelTimes times(test_data::ampere());
    return times;
}

/// Sum of the isolated times of a rank's kernels, in seconds.
double computing(const RankGraph& rank) {
    double seconds = 0;
    for (const Operation& operation : rank.operations)
        if (const auto* kernel = std::get_if<KernelOperation>(&operation.body))
            seconds += to_seconds(kernel->isolated);
    return seconds;
}

std::size_t count(const ExecutionGraph& graph, std::uint32_t rank, const std::string& ending) {
    const auto& operations = graph.ranks[rank]->operations;
    return static_cast<std::size_t>(
        std::count_if(operations.begin(), operations.end(), [&](const Operation& operation) {
            return graph.names[operation.name].ends_with(ending);
        }));
}

ParallelPlan accumulated(std::uint32_t samples, std::uint32_t most) {
    const MicroBatches parts = micro_batches(samples, most);
    ParallelPlan plan;
    plan.micro_batch = parts.samples;
    plan.accumulate = parts.count;
    plan.last_micro_batch = parts.last;
    return plan;
}

TEST(MicroBatches, AreFullButForTheLast) {
    const auto same = [](const MicroBatches& a, std::uint32_t s, std::uint32_t c, std::uint32_t l) {
        return a.samples == s && a.count == c && a.last == l;
    };
    EXPECT_TRUE(same(micro_batches(7, 8), 7, 1, 7));
    EXPECT_TRUE(same(micro_batches(8, 8), 8, 1, 8));
    EXPECT_TRUE(same(micro_batches(9, 8), 8, 2, 1));
    EXPECT_TRUE(same(micro_batches(24, 8), 8, 3, 8));
}

TEST(DividedStep, ASmallerLastMicroBatchTakesItsOwnTime) {
    const Network network = small_gpt();
    const TrainingStep uneven(network, a100(), accumulated(11, 4));
    EXPECT_EQ(uneven.samples(), 11U);
    const ExecutionGraph graph = plan_step(uneven);
    check(graph);
    EXPECT_EQ(graph.training.samples, 11);
    const auto of = [&](std::uint32_t samples, std::uint32_t most) {
        return computing(*plan_step({network, a100(), accumulated(samples, most)}).ranks[0]);
    };
    // Two micro-batches of four and one of three: of(9, 3) - of(6, 3) is a micro-batch of three
    // without the work that each step has once.
    EXPECT_NEAR(computing(*graph.ranks[0]), of(8, 4) + of(9, 3) - of(6, 3), 1e-10);
    EXPECT_LT(computing(*graph.ranks[0]), of(12, 4));
    ReplicaTimes times(uneven.network(), uneven.plan());
    EXPECT_NEAR(times.seconds({{&uneven.times()}}, 4, 11), computing(*graph.ranks[0]), 1e-9);
}

TEST(DividedStep, AccumulationHasOneReductionAndOneUpdate) {
    ParallelPlan plan = accumulated(10, 4);
    plan.data = 2;
    plan.bucket = plan.first_bucket = mebibytes(1024);
    const ExecutionGraph graph = plan_step({small_gpt(), a100(), plan});
    EXPECT_EQ(count(graph, 0, "reduce gradients"), 1U);
    EXPECT_EQ(count(graph, 0, "update"), 1U);
    EXPECT_EQ(graph.training.samples, 20);
}

TEST(DividedStep, MemoryIsThatOfOneMicroBatch) {
    const Network network = small_gpt();
    const auto need = [&](std::uint32_t samples, std::uint32_t most) {
        return plan_memory({network, a100(), accumulated(samples, most)}).front();
    };
    EXPECT_EQ(need(32, 4), need(4, 4));
    EXPECT_EQ(need(31, 4), need(4, 4));
    EXPECT_GT(need(32, 32)[MemoryClass::kActivations], 7 * need(32, 4)[MemoryClass::kActivations]);
    // GPipe keeps the activations of all micro-batches, and the smaller last one counts at its own
    // size.
    ParallelPlan plan = accumulated(6, 4);
    plan.pipeline = 2;
    plan.schedule = "gpipe";
    const auto of = [&] { return plan_memory({network, a100(), plan}).front(); };
    const double uneven = of()[MemoryClass::kActivations];
    plan.last_micro_batch = 0;
    EXPECT_NEAR(uneven, of()[MemoryClass::kActivations] * 6 / 8, 1);
}

TEST(DividedStep, SeparateAccumulationReadsAndWritesTheGradientsOfEveryMicroBatch) {
    ParallelPlan plan = accumulated(12, 4);
    const auto bytes = [&](GradientSums how) {
        plan.accumulation = how;
        const ExecutionGraph graph = plan_step({small_gpt(), a100(), plan});
        double moved = 0;
        for (const Operation& operation : graph.ranks[0]->operations)
            if (graph.names[operation.name].ends_with("accumulate gradients")) {
                const auto& kernel = std::get<KernelOperation>(operation.body);
                moved += static_cast<double>((kernel.bytes_read + kernel.bytes_written).count());
            }
        return moved;
    };
    // An embedding's gradient comes from no matrix product that could add it in place. It is as
    // large as the table, in 16 bits, and a kernel adds it to the sums in 32 bits.
    double tables = 0;
    for (const Layer& layer : small_gpt().layers)
        if (layer.type == "embedding")
            tables += static_cast<double>(layer.parameters);
    EXPECT_GT(tables, 0);
    EXPECT_NEAR(bytes(GradientSums::kFused) / (3 * (2 + 4 + 4) * tables), 1, 1e-3);
    const double gradients = static_cast<double>(parameters(small_gpt())) * 4;
    EXPECT_NEAR(bytes(GradientSums::kSeparate) / (3 * 3 * gradients), 1, 1e-3);
    plan.accumulate = 1;
    plan.last_micro_batch = 0;
    EXPECT_EQ(bytes(GradientSums::kSeparate), 0);
}

/// Two GPUs of one kind, and between them one that is half as fast.
TEST(DividedStep, RanksTakeTheirOwnGpusAndSamples) {
    const Network network = small_gpt();
    GpuRates slow = test_data::ampere();
    for (double* rate : {&slow.vector, &slow.half, &slow.tf32, &slow.matrix})
        *rate /= 2;
    slow.read_bandwidth /= 2;
    slow.mixed_bandwidth /= 2;
    slow.l2_bandwidth /= 2;
    const auto plan_of = [](std::uint32_t samples) {
        ParallelPlan plan = accumulated(samples, 4);
        plan.data = 4;
        plan.samples = {8, 3, 8, 0};
        return plan;
    };
    const TrainingStep fast_step(network, a100(), plan_of(8));
    const TrainingStep slow_step(network, KernelTimes(slow), plan_of(3));
    const ExecutionGraph graph = plan_step({&fast_step, &slow_step, &fast_step, nullptr});
    check(graph);
    EXPECT_EQ(graph.training.samples, 19);
    EXPECT_TRUE(graph.ranks[3]->operations.empty());
    EXPECT_EQ(ranks_at_work(graph), 3U);
    for (const Group& group : graph.groups)
        EXPECT_EQ(std::count(group.ranks.begin(), group.ranks.end(), 3U), 0) << group.name;
    const auto alone = [&](const TrainingStep& step) {
        ParallelPlan plan = step.plan();
        plan.samples.clear();
        plan.data = 1;
        return computing(*plan_step({network, step.times(), plan}).ranks[0]);
    };
    EXPECT_NEAR(computing(*graph.ranks[0]), alone(fast_step), 1e-10);
    EXPECT_NEAR(computing(*graph.ranks[1]), alone(slow_step), 1e-10);
    EXPECT_EQ(computing(*graph.ranks[0]), computing(*graph.ranks[2]));
    // All ranks reduce the same buckets.
    EXPECT_EQ(count(graph, 0, "reduce gradients"), count(graph, 1, "reduce gradients"));
}

TEST(DividedStep, EqualStepsAreTheStepOfThePlan) {
    ParallelPlan plan = accumulated(8, 4);
    plan.data = 2;
    plan.pipeline = 2;
    const TrainingStep step(small_gpt(), a100(), plan);
    const TrainingStep same(small_gpt(), a100(), plan);
    const ExecutionGraph one = plan_step(step);
    const ExecutionGraph two = plan_step({&step, &same, &same, &step});
    ASSERT_EQ(one.ranks.size(), two.ranks.size());
    for (std::size_t rank = 0; rank < one.ranks.size(); ++rank)
        EXPECT_EQ(*one.ranks[rank], *two.ranks[rank]);
    EXPECT_EQ(one.names, two.names);
    EXPECT_EQ(one.groups, two.groups);
    EXPECT_EQ(one.training, two.training);
}

TEST(DividedStep, StagesOnSlowerGpusGetFewerLayers) {
    GpuRates slow = test_data::ampere();
    for (double* rate : {&slow.vector, &slow.half, &slow.tf32, &slow.matrix})
        *rate /= 4;
    slow.read_bandwidth /= 4;
    slow.mixed_bandwidth /= 4;
    slow.l2_bandwidth /= 4;
    const KernelTimes slower(slow);
    const Network network = small_gpt();
    ParallelPlan plan;
    plan.pipeline = 2;
    const auto even = balanced_partition(network, a100(), plan, 2);
    EXPECT_EQ(balanced_partition(network, {{&a100()}, {&a100()}}, plan), even);
    EXPECT_GT(balanced_partition(network, {{&a100()}, {&a100(), &slower}}, plan)[1], even[1]);
    EXPECT_LT(balanced_partition(network, {{&slower}, {&a100()}}, plan)[1], even[1]);
}

}  // namespace
}  // namespace switchfold::divided_step_test
