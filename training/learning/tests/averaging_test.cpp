// SPDX-License-Identifier: Apache-2.0
#include "training/learning/replicas/averaging.h"

#include "training/learning/tests/training.h"

#include <gtest/gtest.h>

#include <cmath>

namespace switchfold::learning::averaging_test {
namespace {

Task small_task(AveragingRule rule, std::uint32_t every) {
    Task task;
    task.network.depth = 4;
    task.network.width = 8;
    task.data.samples = 128;
    task.data.held_out = 32;
    task.batch = 16;
    task.steps = 48;
    task.evaluate_every = 8;
    task.averaging.rule = rule;
    task.averaging.every = every;
    return task;
}

TrainingRun
averaged(const Task& task, std::uint32_t replicas, double step = 1, double exchange = 0.5) {
    return learn_averaged(task, {std::vector<double>(replicas, step), exchange, exchange}, 1, {});
}

std::uint64_t sequential(const Task& task) {
    return trained(task, WeightPolicy::kLatest, timeline_of("gpipe", 1, 1, task.steps)).digest;
}

TEST(Averaging, OfOneReplicaIsSequentialTraining) {
    for (const AveragingRule rule : {AveragingRule::kPeriodic, AveragingRule::kOneShot}) {
        Task task = small_task(rule, 4);
        task.averaging.keep_momentum = true;
        EXPECT_EQ(averaged(task, 1).digest, sequential(task));
    }
}

/// The mean of the replicas' steps equals the step of the mean gradient, up to rounding.
TEST(Averaging, AfterEveryStepOfPlainDescentIsDataParallelism) {
    Task task = small_task(AveragingRule::kPeriodic, 1);
    task.optimizer.momentum = 0;
    const TrainingRun mean = averaged(task, 4);
    const TrainingRun sum =
        trained(task, WeightPolicy::kLatest, timeline_of("gpipe", 1, 4, task.steps));
    ASSERT_EQ(mean.losses.size(), sum.losses.size());
    for (std::size_t i = 0; i < mean.losses.size(); ++i)
        EXPECT_NEAR(mean.losses[i].loss / sum.losses[i].loss, 1, 1e-12);
}

TEST(Averaging, WithMomentumKeptIsDataParallelismToo) {
    Task task = small_task(AveragingRule::kPeriodic, 1);
    task.averaging.keep_momentum = true;
    const double kept = averaged(task, 4).losses.back().loss;
    const double sum = trained(task, WeightPolicy::kLatest, timeline_of("gpipe", 1, 4, task.steps))
                           .losses.back()
                           .loss;
    EXPECT_NEAR(kept / sum, 1, 1e-12);
    task.averaging.keep_momentum = false;
    EXPECT_GT(std::abs(averaged(task, 4).losses.back().loss / sum - 1), 1e-3);
}

TEST(Averaging, BlocksWithoutMomentumAreMeans) {
    Task task = small_task(AveragingRule::kBlockMomentum, 4);
    task.averaging.block_momentum = 0;
    const double block = averaged(task, 4).losses.back().loss;
    task.averaging.rule = AveragingRule::kPeriodic;
    EXPECT_NEAR(block / averaged(task, 4).losses.back().loss, 1, 1e-12);
    task.averaging.rule = AveragingRule::kBlockMomentum;
    task.averaging.block_momentum = 0.5;
    EXPECT_GT(std::abs(averaged(task, 4).losses.back().loss / block - 1), 1e-3);
}

/// Pulls that sum to more than one overshoot: the centre lands beyond the replicas, further each
/// time.
TEST(Averaging, ElasticPullsBeyondTheirBoundDiverge) {
    Task task = small_task(AveragingRule::kElastic, 1);
    task.network = {NetworkKind::kQuadratic, 1, 4};
    task.network.curvature = 0.1;
    task.data.kind = DataKind::kNoise;
    task.data.noise = 0.01;
    task.steps = 400;
    task.averaging.strength = 0.24;
    const TrainingRun within = averaged(task, 4);
    EXPECT_FALSE(within.diverged);
    EXPECT_LT(within.losses.back().loss, 0.1 * within.losses.front().loss);
    task.averaging.strength = 0.6;  // the centre's distance changes by 1 - 5 x 0.6 = -2 times
    EXPECT_TRUE(averaged(task, 4).diverged);
}

/// Without a pull, the replicas train alone and the centre stays where it is.
TEST(Averaging, OfACentreThatDoesNotPullLeavesItWhereItIs) {
    for (const AveragingRule rule :
         {AveragingRule::kElastic, AveragingRule::kElasticAsync, AveragingRule::kModelAveraging}) {
        Task task = small_task(rule, 1);
        task.averaging.strength = 1e-300;
        const TrainingRun run = averaged(task, 4);
        EXPECT_NEAR(run.losses.back().loss / run.losses.front().loss, 1, 1e-12);
    }
}

TEST(Averaging, OfACentreLearns) {
    for (const AveragingRule rule :
         {AveragingRule::kElastic, AveragingRule::kElasticAsync, AveragingRule::kModelAveraging}) {
        const TrainingRun run = averaged(small_task(rule, 2), 4);
        EXPECT_LT(run.losses.back().loss, 0.8 * run.losses.front().loss);
        EXPECT_EQ(run.digest, averaged(small_task(rule, 2), 4).digest);
    }
}

/// The centre serves one replica at a time. Four replicas that arrive together wait for each other;
/// those that take turns do not.
TEST(Averaging, OneByOneTakesTheTimeThatTheCentreHas) {
    Task task = small_task(AveragingRule::kElasticAsync, 1);
    const TrainingRun busy = learn_averaged(task, {{1, 1, 1, 1}, 0, 2}, 1, {});
    // After the first step, 4 x 48 exchanges of 2 follow one another.
    EXPECT_EQ(busy.losses.back().seconds, 1 + 4 * 48 * 2.0);
    const TrainingRun idle = learn_averaged(task, {{1, 1, 1, 1}, 0, 0.25}, 1, {});
    // The last replica first waits 0.25 x 3; after that each finds the centre free.
    EXPECT_EQ(idle.losses.back().seconds, 48 * 1.25 + 0.75);
    task.averaging.every = 4;
    const TrainingRun alone = learn_averaged(task, {{1}, 0, 0.5}, 1, {});
    EXPECT_EQ(alone.losses.back().seconds, 48 + 12 * 0.5);
}

/// A slow replica delays all replicas that exchange together, but none that exchange with the
/// centre alone.
TEST(Averaging, OneByOneDoesNotWaitForTheSlowest) {
    const ReplicaTimes times{{1, 1, 1, 3}, 0, 0};
    const TrainingRun together =
        learn_averaged(small_task(AveragingRule::kElastic, 1), times, 1, {});
    EXPECT_EQ(together.losses.back().seconds, 48 * 3);
    const TrainingRun alone =
        learn_averaged(small_task(AveragingRule::kElasticAsync, 1), times, 1, {});
    EXPECT_NEAR(alone.losses.back().seconds, 4 * 48 / (3 + 1.0 / 3), 3);
}

TEST(Averaging, TakesTheTimeOfItsExchanges) {
    const TrainingRun often = averaged(small_task(AveragingRule::kPeriodic, 1), 2);
    EXPECT_EQ(often.losses.back().seconds, 48 * 1.5);
    const TrainingRun seldom = averaged(small_task(AveragingRule::kPeriodic, 16), 2);
    EXPECT_EQ(seldom.losses.back().seconds, 48 + 3 * 0.5);
    EXPECT_EQ(seldom.losses[1].step, 8U);
    EXPECT_EQ(seldom.losses[1].seconds, 8.5);  // includes the exchange as if training stopped there
    const TrainingRun once = averaged(small_task(AveragingRule::kOneShot, 1), 2);
    EXPECT_EQ(once.losses.back().seconds, 48.5);
    Task post = small_task(AveragingRule::kPostLocal, 12);
    EXPECT_EQ(averaged(post, 2).losses.back().seconds, 48 + (24 + 2) * 0.5);
    post.averaging.every_step_until = 36;
    EXPECT_EQ(averaged(post, 2).losses.back().seconds, 48 + (36 + 1) * 0.5);
}

/// The mean of K independent replicas has 1/K of their noise variance (one-shot, convex).
TEST(Averaging, OnceReducesNoiseByTheNumberOfReplicas) {
    Task task = small_task(AveragingRule::kOneShot, 1);
    task.network = {NetworkKind::kQuadratic, 1, 256};
    task.network.curvature = 0.5;
    task.data.kind = DataKind::kNoise;
    task.data.noise = 1;
    task.optimizer.momentum = 0;
    task.optimizer.rate = 0.4;
    task.batch = 8;
    task.steps = 200;
    task.evaluate_every = 200;
    const double variance = 0.4 / (0.5 * (2 - 0.4 * 0.5));  // one replica, one sample a step
    const double got = averaged(task, 8).losses.back().loss / (256 * 0.5 * 0.5);
    EXPECT_NEAR(got / (variance / 8), 1, 0.2);
}

}  // namespace
}  // namespace switchfold::learning::averaging_test
