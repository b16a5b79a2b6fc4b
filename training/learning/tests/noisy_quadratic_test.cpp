// SPDX-License-Identifier: Apache-2.0
// Averaged replicas on a noisy quadratic, compared with the variance at which each rule settles.
// Plain descent and every rule are linear in weights and noise, so the covariance V of all weights
// and of the centre solves V = A V A' + B B'. The matrices A and B of one cycle are written here
// independently of the code under test.
#include "training/learning/replicas/averaging.h"
#include "training/learning/tests/training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

namespace switchfold::learning::noisy_quadratic_test {
namespace {

constexpr std::uint32_t kReplicas = 4;
constexpr double kRate = 0.4;
constexpr double kCurvature = 0.5;

using State = std::vector<double>;

/// One step of a replica from weight `w` with gradient noise.
double stepped(double w, double noise) {
    return w - kRate * (kCurvature * w + noise);
}

/// What one cycle of a rule does to one parameter: to its copies in all replicas and to the rule's
/// own state.
struct Cycle {
    std::size_t states;
    std::size_t noises;
    std::function<State(State, const State& noise)> map;
    std::function<double(const State&)> model;
};

/// Variance of the model at the end of a cycle, for gradient noise of variance 1.
double settled_variance(const Cycle& cycle) {
    const auto unit = [](std::size_t size, std::size_t at) {
        State state(size, 0);
        if (at < size)
            state[at] = 1;
        return state;
    };
    const std::size_t n = cycle.states;
    const auto size = static_cast<Index>(n);
    Matrix a(size, size);
    for (std::size_t j = 0; j < n; ++j) {
        const State column = cycle.map(unit(n, j), unit(cycle.noises, SIZE_MAX));
        for (std::size_t i = 0; i < n; ++i)
            a(static_cast<Index>(i), static_cast<Index>(j)) = column[i];
    }
    Matrix all = Matrix::Zero(size, size);
    for (std::size_t j = 0; j < cycle.noises; ++j) {
        const State column = cycle.map(unit(n, SIZE_MAX), unit(cycle.noises, j));
        const Eigen::Map<const Vector> b(column.data(), size);
        all += b * b.transpose();
    }
    // V = sum of A^i B B' A'^i, by repeated doubling.
    for (int i = 0; i < 20; ++i) {
        all = (all + a * all * a.transpose()).eval();
        a = (a * a).eval();
    }
    Vector weights(size);
    for (std::size_t j = 0; j < n; ++j)
        weights[static_cast<Index>(j)] = cycle.model(unit(n, j));
    return weights.dot(all * weights);
}

double mean_of_replicas(const State& state) {
    double sum = 0;
    for (std::uint32_t k = 0; k < kReplicas; ++k)
        sum += state[k];
    return sum / kReplicas;
}

/// A cycle of `every` local steps of all replicas, with `meet` at its end.
Cycle local_steps(
    std::uint32_t every, std::size_t states,
    const std::function<void(State& state, const State& before)>& meet) {
    return {
        states, std::size_t{every} * kReplicas,
        [=](State state, const State& noise) {
            State before;
            for (std::uint32_t h = 0; h < every; ++h) {
                before = state;
                for (std::uint32_t k = 0; k < kReplicas; ++k)
                    state[k] = stepped(state[k], noise[h * kReplicas + k]);
            }
            meet(state, before);
            return state;
        },
        mean_of_replicas};
}

double measured_variance(Task task, const ReplicaTimes& times = {{1, 1, 1, 1}, 0.5, 0.5}) {
    constexpr std::uint32_t kWidth = 768;
    constexpr std::uint32_t kFilling = 200;  // steps until the variance has settled
    task.network = {NetworkKind::kQuadratic, 1, kWidth};
    task.network.curvature = kCurvature;
    task.network.start = 0;
    task.data.kind = DataKind::kNoise;
    task.data.noise = 1;
    task.optimizer.momentum = 0;
    task.optimizer.rate = kRate;
    task.batch = times.replicas();  // one sample per replica
    task.steps = 4000;
    task.evaluate_every = 4;
    const TrainingRun run = learn_averaged(task, times, 1, {});
    double sum = 0;
    double count = 0;
    for (const LossPoint& point : run.losses)
        if (point.step > kFilling) {
            sum += point.loss;
            ++count;
        }
    return sum / count / (kWidth * 0.5 * kCurvature);
}

Task task_with(AveragingRule rule, std::uint32_t every) {
    Task task;
    task.averaging.rule = rule;
    task.averaging.every = every;
    return task;
}

constexpr double kWithin = 0.01;

/// The mean is linear in the replicas' weights. However rarely they exchange, its variance is that
/// of one replica divided by their number.
TEST(NoisyQuadraticOfReplicas, MeansSettleAtAReplicasVarianceOverTheirNumber) {
    const double one = kRate / (kCurvature * (2 - kRate * kCurvature));
    const Cycle cycle = local_steps(4, kReplicas, [](State& state, const State&) {
        state.assign(kReplicas, mean_of_replicas(state));
    });
    EXPECT_NEAR(settled_variance(cycle), one / kReplicas, 1e-12);
    EXPECT_NEAR(
        measured_variance(task_with(AveragingRule::kPeriodic, 4)) / (one / kReplicas), 1, kWithin);
    EXPECT_NEAR(
        measured_variance(task_with(AveragingRule::kPostLocal, 16)) / (one / kReplicas), 1,
        kWithin);
    EXPECT_NEAR(
        measured_variance(task_with(AveragingRule::kOneShot, 1)) / (one / kReplicas), 1, kWithin);
}

TEST(NoisyQuadraticOfReplicas, ElasticAveragesSettleAtTheClosedForm) {
    for (const std::uint32_t every : {1U, 4U}) {
        Task task = task_with(AveragingRule::kElastic, every);
        task.averaging.strength = 0.2;
        Cycle cycle = local_steps(every, kReplicas + 1, [](State& state, const State& before) {
            double& z = state[kReplicas];
            for (std::uint32_t k = 0; k < kReplicas; ++k) {
                state[k] -= 0.2 * (before[k] - before[kReplicas]);
                z += 0.2 * (before[k] - before[kReplicas]);
            }
        });
        cycle.model = [](const State& state) { return state[kReplicas]; };
        EXPECT_NEAR(measured_variance(task) / settled_variance(cycle), 1, kWithin) << every;
    }
}

TEST(NoisyQuadraticOfReplicas, SynchronousModelAveragingSettlesAtTheClosedForm) {
    for (const double momentum : {0.0, 0.6}) {
        Task task = task_with(AveragingRule::kModelAveraging, 1);
        task.averaging.strength = 0.1;
        task.averaging.centre_momentum = momentum;
        // States: the replicas, the centre and the previous centre.
        Cycle cycle = local_steps(1, kReplicas + 2, [=](State& state, const State& before) {
            const double z = before[kReplicas];
            const double last = before[kReplicas + 1];
            state[kReplicas + 1] = z;
            state[kReplicas] = z + momentum * (z - last);
            for (std::uint32_t k = 0; k < kReplicas; ++k) {
                state[k] -= 0.1 * (before[k] - z);
                state[kReplicas] += 0.1 * (before[k] - z);
            }
        });
        cycle.model = [](const State& state) { return state[kReplicas]; };
        EXPECT_NEAR(measured_variance(task) / settled_variance(cycle), 1, kWithin) << momentum;
    }
}

TEST(NoisyQuadraticOfReplicas, BlockMomentumSettlesAtTheClosedForm) {
    Task task = task_with(AveragingRule::kBlockMomentum, 4);
    task.averaging.block_momentum = 0.5;
    // States: the replicas (which all begin a block from the same weights), the centre and its
    // shift.
    Cycle cycle = local_steps(4, kReplicas + 2, [](State& state, const State&) {
        double& centre = state[kReplicas];
        double& shift = state[kReplicas + 1];
        const double begun_with = centre + 0.5 * shift;
        shift = 0.5 * shift + mean_of_replicas(state) - begun_with;
        centre += shift;
        for (std::uint32_t k = 0; k < kReplicas; ++k)
            state[k] = centre + 0.5 * shift;
    });
    cycle.model = [](const State& state) { return state[kReplicas]; };
    EXPECT_NEAR(measured_variance(task) / settled_variance(cycle), 1, kWithin);
}

/// Replicas of equal speed exchange with the centre in turns.
TEST(NoisyQuadraticOfReplicas, AsynchronousElasticAveragesSettleAtTheClosedForm) {
    Task task = task_with(AveragingRule::kElasticAsync, 1);
    task.averaging.strength = 0.2;
    const auto meet = [](State& state, std::size_t k, double noise) {
        state[k] = stepped(state[k], noise);
        double& z = state.back();
        const double pull = 0.2 * (state[k] - z);
        state[k] -= pull;
        z += pull;
    };
    const Cycle turns{
        kReplicas + 1, kReplicas,
        [&](State state, const State& noise) {
            for (std::size_t k = 0; k < kReplicas; ++k)
                meet(state, k, noise[k]);
            return state;
        },
        [](const State& state) { return state.back(); }};
    EXPECT_NEAR(measured_variance(task) / settled_variance(turns), 1, kWithin);
    // A replica that is three times as fast exchanges three times as often: 0, 0, 0, 1.
    const Cycle fast{
        3, 4,
        [&](State state, const State& noise) {
            meet(state, 0, noise[0]);
            meet(state, 0, noise[1]);
            meet(state, 0, noise[2]);
            meet(state, 1, noise[3]);
            return state;
        },
        [](const State& state) { return state.back(); }};
    EXPECT_NEAR(measured_variance(task, {{1, 3}, 0, 0}) / settled_variance(fast), 1, kWithin);
    EXPECT_GT(std::abs(settled_variance(fast) / settled_variance(turns) - 1), 5 * kWithin);
}

/// Without noise, the loss shrinks by the same factor in every step, and AdaComm's intervals follow
/// from it.
TEST(NoisyQuadraticOfReplicas, AdaptiveIntervalsFollowTheLoss) {
    Task task = task_with(AveragingRule::kAdaptive, 16);
    task.network = {NetworkKind::kQuadratic, 1, 4};
    task.network.curvature = kCurvature;
    task.data.kind = DataKind::kNoise;
    task.data.noise = 0;
    task.optimizer.momentum = 0;
    task.optimizer.rate = 0.1;
    task.batch = 4;
    task.steps = 100;
    task.evaluate_every = 1;
    const double keep = std::pow(1 - 0.1 * kCurvature, 2);  // factor of the loss per step
    std::uint32_t exchanges = 0;
    double last = 0;
    for (double step = 0, interval = 16; step + interval <= 100; last = step) {
        const double mean =
            std::pow(keep, step) * (1 - std::pow(keep, interval)) / (1 - keep) / interval;
        step += interval;
        interval = std::max(1.0, std::ceil(16 * std::sqrt(mean)));
        ++exchanges;
    }
    const TrainingRun run = learn_averaged(task, {{1, 1, 1, 1}, 1000, 0}, 1, {});
    // The last point includes the exchange that forms the final model, unless one has just
    // happened.
    EXPECT_EQ(run.losses.back().seconds, 100 + 1000.0 * (exchanges + (last == 100 ? 0 : 1)));
    EXPECT_GT(exchanges, 100U / 16U);
}

}  // namespace
}  // namespace switchfold::learning::noisy_quadratic_test
