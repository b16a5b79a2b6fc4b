// SPDX-License-Identifier: Apache-2.0
#include "training/plan/average/averaged_step.h"

#include "training/network/decoder.h"
#include "workloads/graph/join.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace switchfold::averaged_step_test {
namespace {

Network small() {
    GptShape shape;
    shape.layers = 2;
    shape.hidden = 256;
    shape.heads = 4;
    shape.sequence = 64;
    shape.vocabulary = 512;
    return decoder("small", shape);
}

ParallelPlan one() {
    ParallelPlan plan;
    plan.micro_batch = 4;
    return plan;
}

std::size_t count(const ExecutionGraph& graph, const std::string& name) {
    const RankGraph& rank = *graph.ranks.front();
    return static_cast<std::size_t>(
        std::count_if(rank.operations.begin(), rank.operations.end(), [&](const Operation& o) {
            return graph.names[o.name] == name;
        }));
}

std::uint64_t exchanged(const ExecutionGraph& graph) {
    std::uint64_t bytes = 0;
    for (const Operation& operation : graph.ranks.front()->operations)
        if (const auto* collective = std::get_if<CollectiveOperation>(&operation.body))
            bytes += collective->bytes.count();
    return bytes;
}

double parameters(const TrainingStep& step) {
    return step.work().parameters(0);
}

TEST(AveragedSteps, ExchangeAllWeightsOnceAPeriod) {
    const TrainingStep step(small(), KernelTimes(test_data::ampere()), one());
    AveragePlan average;
    average.every = 5;
    const ExecutionGraph graph = averaged_steps(step, plan_step(step), average, 4);
    check(graph);
    EXPECT_EQ(graph.ranks.size(), 4U);
    EXPECT_EQ(graph.steps, 5U);
    EXPECT_EQ(graph.training.samples, 16);
    EXPECT_EQ(count(graph, "update"), 5U);
    EXPECT_EQ(count(graph, "reduce gradients"), 0U);
    EXPECT_EQ(count(graph, "average weights"), 1U);
    EXPECT_EQ(exchanged(graph), static_cast<std::uint64_t>(4 * parameters(step)));
}

/// Replicas of other samples and GPUs have steps of their own, and one exchange.
TEST(AveragedSteps, ReplicasMayDiffer) {
    ParallelPlan plan = one();
    const TrainingStep four(small(), KernelTimes(test_data::ampere()), plan);
    plan.micro_batch = 8;
    const TrainingStep eight(small(), KernelTimes(test_data::hopper()), plan);
    std::vector<ReplicaApart> apart(2);
    apart[0] = {held_weights({&four}), plan_step(four), 2};
    apart[1] = {held_weights({&eight}), plan_step(eight), 1};
    AveragePlan average;
    average.every = 2;
    const ExecutionGraph graph = averaged_steps(four.plan(), apart, average);
    check(graph);
    ASSERT_EQ(graph.ranks.size(), 3U);
    EXPECT_EQ(graph.training.samples, 4 + 4 + 8);
    const auto seconds = [&](std::size_t rank, Phase phase) {
        double sum = 0;
        for (const Operation& operation : graph.ranks[rank]->operations)
            if (const auto* kernel = std::get_if<KernelOperation>(&operation.body))
                if (operation.phase == phase)
                    sum += to_seconds(kernel->isolated);
        return sum;
    };
    EXPECT_EQ(seconds(0, Phase::kForward), seconds(1, Phase::kForward));
    EXPECT_NE(seconds(0, Phase::kForward), seconds(2, Phase::kForward));
    EXPECT_LT(seconds(2, Phase::kOptimizer), seconds(0, Phase::kOptimizer));  // a faster GPU
    EXPECT_EQ(graph.groups.back().ranks, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(AveragedSteps, BucketsAreThoseOfGradients) {
    ParallelPlan plan = one();
    plan.bucket = mebibytes(1);
    const TrainingStep step(small(), KernelTimes(test_data::ampere()), plan);
    const ExecutionGraph graph = averaged_steps(step, plan_step(step), {}, 2);
    const auto buckets = static_cast<std::size_t>(4 * parameters(step) / (1 << 20)) + 1;
    EXPECT_EQ(count(graph, "exchange weights"), buckets);
}

TEST(AveragedSteps, OverlappedExchangeWaitsForNoStep) {
    const TrainingStep step(small(), KernelTimes(test_data::ampere()), one());
    AveragePlan average;
    average.overlap = true;
    const ExecutionGraph graph = averaged_steps(step, plan_step(step), average, 2);
    const RankGraph& rank = *graph.ranks.front();
    for (const Operation& operation : rank.operations) {
        const std::string& name = graph.names[operation.name];
        if (name == "weights of the period before") {
            EXPECT_TRUE(operation.dependencies.empty());
        } else if (name == "average weights") {
            EXPECT_GE(operation.dependencies.size(), 2U);  // the exchange and the local steps
        }
    }
}

TEST(AveragedSteps, MethodsMoveWhatTheyKeep) {
    const TrainingStep step(small(), KernelTimes(test_data::ampere()), one());
    const double weights = 4 * parameters(step);
    const auto held = [&](AverageMethod method) {
        AveragePlan average;
        average.method = method;
        const ExecutionGraph graph = averaged_steps(step, plan_step(step), average, 2);
        return graph.ranks.front()->held.all();
    };
    const double plain = held(AverageMethod::kPeriodic);
    EXPECT_NEAR(held(AverageMethod::kElastic) - plain, 2 * weights, 1);
    EXPECT_NEAR(held(AverageMethod::kModelAveraging) - plain, 3 * weights, 1);
    EXPECT_NEAR(held(AverageMethod::kBlockMomentum) - plain, 2 * weights, 1);
    AveragePlan alone;
    alone.method = AverageMethod::kElasticAsync;
    const ExecutionGraph graph = averaged_steps(step, plan_step(step), alone, 2);
    EXPECT_EQ(exchanged(graph), 0U);
    EXPECT_EQ(count(graph, "move the centre"), 1U);
}

TEST(AveragedSteps, RanksOfAReplicaAverageTheirOwnPart) {
    ParallelPlan plan = one();
    plan.tensor = 2;
    plan.pipeline = 2;
    plan.accumulate = 2;
    const TrainingStep step(small(), KernelTimes(test_data::ampere()), plan);
    AveragePlan average;
    average.every = 3;
    const ExecutionGraph graph = averaged_steps(step, plan_step(step), average, 3);
    check(graph);
    ASSERT_EQ(graph.ranks.size(), 12U);
    EXPECT_EQ(graph.training.samples, 3 * repeat(plan_step(step), 3).training.samples);
    std::vector<std::uint64_t> bytes(12, 0);
    for (std::uint32_t rank = 0; rank < 12; ++rank)
        for (const Operation& operation : graph.ranks[rank]->operations) {
            if (graph.names[operation.name] != "exchange weights")
                continue;
            const auto& collective = std::get<CollectiveOperation>(operation.body);
            bytes[rank] += collective.bytes.count();
            // Tensor ranks vary fastest, then replicas, then devices of the pipeline.
            const std::uint32_t first = rank % 2 + rank / 6 * 6;
            EXPECT_EQ(
                graph.groups[collective.group].ranks,
                (std::vector<std::uint32_t>{first, first + 2, first + 4}));
        }
    for (std::uint32_t rank = 0; rank < 12; ++rank)
        EXPECT_NEAR(static_cast<double>(bytes[rank]), 4 * step.work().parameters(rank / 6), 8.0)
            << rank;
}

TEST(AveragedSteps, RefuseWhatIsNoReplica) {
    const auto problem = [](const ParallelPlan& plan, const AveragePlan& average) {
        const PlanProblems found = problems_of(average, plan);
        return found.empty() ? std::string() : found.front().first + " " + found.front().second;
    };
    ParallelPlan plan = one();
    EXPECT_NE(problem(plan, {}).find("data > 1"), std::string::npos);
    plan.data = 2;
    EXPECT_EQ(problem(plan, {}), "");
    AveragePlan once;
    once.method = AverageMethod::kOneShot;
    once.overlap = true;
    EXPECT_NE(problem(plan, once).find("/average/overlap"), std::string::npos);
    plan.sharding = Sharding::kOptimizer;
    EXPECT_NE(problem(plan, {}).find("sharding"), std::string::npos);
    plan.sharding = Sharding::kNone;
    plan.tensor = 2;
    plan.pipeline = 2;
    EXPECT_EQ(problem(plan, {}), "");
    plan.expert = 2;
    EXPECT_NE(problem(plan, {}).find("expected expert 1"), std::string::npos);
}

}  // namespace
}  // namespace switchfold::averaged_step_test
