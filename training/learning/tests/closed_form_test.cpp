// SPDX-License-Identifier: Apache-2.0
#include "training/learning/tests/training.h"

#include <gtest/gtest.h>

#include <cmath>

namespace switchfold::learning::closed_form_test {
namespace {

/// RMSE of weights predicted s updates ahead, relative to that of stale weights. Gradients are
/// independent with mean zero, and the momentum m is an average.
double ratio(double m, int s) {
    const double all = m * (1 - std::pow(m, s)) / (1 - m);
    const double q = (1 - m) / (1 + m);
    double n = 0;
    for (int r = 1; r <= s; ++r)
        n += std::pow(1 - std::pow(m, r), 2);
    return std::sqrt(((all - s) * (all - s) * q + n) / (all * all * q + n));
}

Task pure_noise(std::uint32_t stages, double momentum) {
    Task task;
    task.network = {NetworkKind::kQuadratic, stages, 32};
    task.network.curvature = 0;
    task.data.kind = DataKind::kNoise;
    task.data.noise = 1;
    task.batch = 1;
    task.steps = 6000;
    task.evaluate_every = 6000;
    task.optimizer.momentum = momentum;
    return task;
}

TEST(PureNoise, FormulaGivesThePublishedRatios) {
    EXPECT_NEAR(ratio(0.9, 1), 0.4472, 5e-5);
    EXPECT_NEAR(ratio(0.9, 2), 0.5026, 5e-5);
    EXPECT_NEAR(ratio(0.9, 3), 0.5609, 5e-5);
    EXPECT_NEAR(ratio(0.9, 4), 0.6153, 5e-5);
    EXPECT_NEAR(ratio(0.9, 7), 0.7563, 5e-5);
}

TEST(PureNoise, PredictionIsAsFarFromTheTargetAsTheClosedFormSays) {
    constexpr std::uint32_t kStages = 8;
    const WeightTimeline timeline = timeline_of("1f1b_async", kStages, 1, 6000);
    for (const double momentum : {0.9, 0.5}) {
        const Task task = pure_noise(kStages, momentum);
        const TrainingRun run = trained(task, WeightPolicy::kPredictOnce, timeline);
        for (std::uint32_t k = 0; k + 1 < kStages; ++k) {
            const int s = static_cast<int>(kStages - 1 - k);
            const Distance& d = run.stages[k].forward_to_batch_order;
            const double got = d.root_of_used() / d.root_of_stale();
            EXPECT_NEAR(got / ratio(momentum, s), 1, 0.01) << momentum << ' ' << s;
        }
        // With little momentum, past gradients say almost nothing about the next ones, so a
        // prediction is worse than stale weights.
        const Distance& far = run.stages[2].forward_to_batch_order;
        EXPECT_EQ(far.root_of_used() > far.root_of_stale(), momentum < 0.6);
    }
}

TEST(PureNoise, ConventionsOfMomentumDifferByTheStepAlone) {
    Task task = pure_noise(4, 0.9);
    task.steps = 400;
    task.evaluate_every = 400;
    const WeightTimeline timeline = timeline_of("1f1b_async", 4, 1, 400);
    const TrainingRun averaged = trained(task, WeightPolicy::kPredictOnce, timeline);
    task.optimizer.rule = OptimizerRule::kMomentum;
    task.optimizer.rate *= 0.1;
    const TrainingRun summed = trained(task, WeightPolicy::kPredictOnce, timeline);
    for (std::uint32_t k = 0; k < 3; ++k)
        EXPECT_NEAR(
            averaged.stages[k].forward_to_batch_order.root_of_used() /
                summed.stages[k].forward_to_batch_order.root_of_used(),
            1, 1e-9);
}

/// Plain gradient descent on a noisy quadratic settles at E w^2 = rate noise^2 / (curvature (2 -
/// rate curvature)).
TEST(NoisyQuadratic, SettlesAtTheClosedFormsVariance) {
    Task task = pure_noise(1, 0);
    task.network.curvature = 0.5;
    task.network.width = 64;
    task.optimizer.rate = 0.4;
    task.steps = 4000;
    task.evaluate_every = 20;
    const TrainingRun run =
        trained(task, WeightPolicy::kLatest, timeline_of("gpipe", 1, 1, task.steps));
    double mean = 0;
    double count = 0;
    for (const LossPoint& point : run.losses)
        if (point.step > 200) {
            mean += point.loss;
            ++count;
        }
    const double variance = 0.4 / (0.5 * (2 - 0.4 * 0.5));
    EXPECT_NEAR(mean / count / (64 * 0.5 * 0.5 * variance), 1, 0.03);
}

/// One parameter without noise: a step's gradient is as old as the forward pass's weights. With d
/// updates in between, w shrinks if rate x curvature < 2 sin(pi / (4 d + 2)).
TEST(NoisyQuadratic, StaleGradientsDivergeBeyondTheirThreshold) {
    constexpr double kPi = 3.14159265358979;
    Task task = pure_noise(4, 0);
    task.data.noise = 0;
    task.network.curvature = 1;
    task.network.width = 1;
    task.steps = 2000;
    task.evaluate_every = 500;
    const WeightTimeline timeline = timeline_of("1f1b_async", 4, 1, task.steps);
    const double threshold = 2 * std::sin(kPi / (4 * 3 + 2));
    task.optimizer.rate = 0.97 * threshold;
    const TrainingRun below = trained(task, WeightPolicy::kStash, timeline);
    EXPECT_LT(below.losses.back().loss, 1e-6);
    task.optimizer.rate = 1.03 * threshold;
    const TrainingRun above = trained(task, WeightPolicy::kStash, timeline);
    EXPECT_GT(above.losses.back().loss, below.losses.front().loss);
    // If the backward pass uses the current weights, the gradient is current too and nothing
    // diverges.
    const TrainingRun latest = trained(task, WeightPolicy::kLatest, timeline);
    EXPECT_LT(latest.losses.back().loss, 1e-6);
}

}  // namespace
}  // namespace switchfold::learning::closed_form_test
