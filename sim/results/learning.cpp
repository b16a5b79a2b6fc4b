// SPDX-License-Identifier: Apache-2.0
#include "sim/results/learning.h"

#include "sim/config/plan_params.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

namespace switchfold {

namespace {

using learning::Distance;
using learning::TrainingRun;

/// 97.5 % quantile of Student's t by degrees of freedom.
double student(std::size_t freedom) {
    constexpr double kTable[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                 2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
    if (freedom <= std::size(kTable))
        return kTable[freedom - 1];
    constexpr double kNormal = 1.96;
    constexpr double kTail = 2.4;  // correction over the normal's quantile is this / freedom
    return kNormal + kTail / static_cast<double>(freedom);
}

std::string weights_word(const LearningParams& learning, WeightPolicy policy) {
    if (learning.averaging.rule == learning::AveragingRule::kNone)
        return std::string(enum_name(policy));
    if (learning.averaging.rule == learning::AveragingRule::kOneShot)
        return std::string(enum_name(learning.averaging.rule));
    if (learning.averaging.rule == learning::AveragingRule::kAdaptive)
        return fmt::format("adaptive, from {}", learning.averaging.every);
    return fmt::format(
        "{}, every {}", enum_name(learning.averaging.rule), learning.averaging.every);
}

void add_seeds(
    const LearningParams& learning, const std::vector<TrainingRun>& runs, LearningResult& result) {
    std::vector<double> finals;
    std::vector<double> steps;
    std::vector<double> seconds;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const TrainingRun& run = runs[i];
        LearningSeedResult& seed = result.seeds.emplace_back();
        seed.seed = learning.seed + i;
        seed.final_loss = run.losses.back().loss;
        for (const learning::LossPoint& point : run.losses)
            result.losses.push_back({seed.seed, point.step, point.seconds, point.loss});
        if (run.diverged) {
            seed.diverged_at = run.diverged->step;
            ++result.diverged;
        } else {
            finals.push_back(seed.final_loss);
        }
        const auto point = learning.target ? reached(run, *learning.target) : std::nullopt;
        if (point) {
            seed.steps_to_target = point->step;
            seed.seconds_to_target = point->seconds;
            steps.push_back(point->step);
            seconds.push_back(point->seconds);
            ++result.reached;
        }
    }
    if (finals.size() == runs.size())
        result.final_loss = mean_of(finals);
    if (learning.target && steps.size() == runs.size()) {
        result.steps_to_target = mean_of(steps);
        result.seconds_to_target = mean_of(seconds);
    }
}

/// All seeds are evaluated at the same steps; diverged ones stop early.
void add_curve(const std::vector<TrainingRun>& runs, LearningResult& result) {
    const auto longest =
        std::max_element(runs.begin(), runs.end(), [](const TrainingRun& a, const TrainingRun& b) {
            return a.losses.size() < b.losses.size();
        });
    for (std::size_t i = 0; i < longest->losses.size(); ++i) {
        std::vector<double> losses;
        for (const TrainingRun& run : runs)
            if (i < run.losses.size() && std::isfinite(run.losses[i].loss))
                losses.push_back(run.losses[i].loss);
        if (losses.empty())
            return;
        const learning::LossPoint& point = longest->losses[i];
        const SeedMean loss = mean_of(losses);
        result.curve.push_back({point.step, point.seconds, loss.mean, loss.half_width});
    }
}

WeightDistance distance_of(
    const std::vector<TrainingRun>& runs, std::size_t stage, Distance learning::StageRun::*which) {
    Distance all;
    for (const TrainingRun& run : runs) {
        if (run.diverged)
            continue;
        const Distance& one = run.stages[stage].*which;
        all.used += one.used;
        all.stale += one.stale;
        all.numbers += one.numbers;
    }
    return {all.root_of_used(), all.root_of_stale()};
}

void add_stages(const std::vector<TrainingRun>& runs, LearningResult& result) {
    using Run = learning::StageRun;
    for (std::size_t s = 0; s < runs.front().stages.size(); ++s) {
        const Run& first = runs.front().stages[s];
        result.stages.push_back(
            {first.forward_missed, first.backward_missed, first.between, first.most_copies,
             first.parameters, first.moments, distance_of(runs, s, &Run::forward_to_batch_order),
             distance_of(runs, s, &Run::forward_to_round_trip),
             distance_of(runs, s, &Run::backward_to_batch_order),
             distance_of(runs, s, &Run::backward_to_round_trip)});
    }
    for (const learning::VersionUse& use : runs.front().versions)
        result.versions.push_back(
            {use.stage, use.micro_batch, use.forward, use.version, use.batch_order,
             use.at_round_trip, use.ahead});
    for (const learning::MembershipChange& change : runs.front().membership)
        result.membership.push_back(
            {change.step, change.members, change.joined, change.left, change.identical});
}

}  // namespace

SeedMean mean_of(std::span<const double> values) {
    SeedMean result;
    const auto count = static_cast<double>(values.size());
    for (const double value : values)
        result.mean += value;
    result.mean /= count;
    if (values.size() < 2)
        return result;
    double square = 0;
    for (const double value : values)
        square += (value - result.mean) * (value - result.mean);
    result.half_width = student(values.size() - 1) * std::sqrt(square / (count - 1) / count);
    return result;
}

std::optional<SeedMean> ratio_of_means(std::span<const double> one, std::span<const double> other) {
    const double below = mean_of(other).mean;
    if (below == 0)
        return {};
    const double ratio = mean_of(one).mean / below;
    std::vector<double> rest;
    for (std::size_t i = 0; i < one.size(); ++i)
        rest.push_back((one[i] - ratio * other[i]) / below);
    return SeedMean{ratio, mean_of(rest).half_width};
}

LearningResult learning_result(
    const LearningParams& learning, WeightPolicy policy, const std::vector<TrainingRun>& runs) {
    LearningResult result;
    result.weights = weights_word(learning, policy);
    result.learning_rate = learning.learning_rate;
    result.target = learning.target;
    add_seeds(learning, runs, result);
    add_curve(runs, result);
    add_stages(runs, result);
    return result;
}

}  // namespace switchfold
