// SPDX-License-Identifier: Apache-2.0
#include "sim/results/learning_comparison.h"

#include "sim/results/learning.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace switchfold {

namespace {

const LearningResult* find(
    const std::vector<LearningScenario>& scenarios, const std::vector<LearningResult>& results,
    const std::string& name) {
    for (std::size_t i = 0; i < scenarios.size(); ++i)
        if (scenarios[i].name == name)
            return &results[i];
    return nullptr;
}

bool same_seeds(const LearningResult& a, const LearningResult& b) {
    return std::equal(
        a.seeds.begin(), a.seeds.end(), b.seeds.begin(), b.seeds.end(),
        [](const auto& one, const auto& other) { return one.seed == other.seed; });
}

std::vector<double> final_losses(const LearningResult& learning) {
    std::vector<double> losses;
    for (const LearningSeedResult& seed : learning.seeds)
        losses.push_back(seed.final_loss);
    return losses;
}

std::vector<double> differences(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> all;
    for (std::size_t i = 0; i < a.size(); ++i)
        all.push_back(a[i] - b[i]);
    return all;
}

std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> all;
    for (std::size_t i = 0; i < a.size(); ++i)
        all.push_back(a[i] / b[i]);
    return all;
}

void compare_targets(
    const LearningResult& one, const LearningResult& other, LearningComparison& comparison) {
    if (!one.steps_to_target || !other.steps_to_target || one.target != other.target)
        return;
    std::vector<double> steps;
    std::vector<double> seconds;
    for (std::size_t i = 0; i < one.seeds.size(); ++i) {
        if (*other.seeds[i].steps_to_target == 0)
            return;  // the target is reached from the start
        steps.push_back(
            static_cast<double>(*one.seeds[i].steps_to_target) / *other.seeds[i].steps_to_target);
        seconds.push_back(*one.seeds[i].seconds_to_target / *other.seeds[i].seconds_to_target);
    }
    comparison.steps_ratio = mean_of(steps);
    comparison.seconds_ratio = mean_of(seconds);
}

std::optional<LearningComparison> comparison_of(
    const LearningResult& one, const std::string& with, const LearningResult& other,
    const LearningResult* gap_of) {
    if (&one == &other || !same_seeds(one, other))
        return {};
    LearningComparison comparison;
    comparison.with = with;
    compare_targets(one, other, comparison);
    if (!one.final_loss || !other.final_loss)
        return comparison;
    const std::vector<double> own = final_losses(one);
    const std::vector<double> base = final_losses(other);
    comparison.loss_less = mean_of(differences(own, base));
    if (std::all_of(base.begin(), base.end(), [](double loss) { return loss > 0; }))
        comparison.loss_ratio = mean_of(ratios(own, base));
    if (gap_of == nullptr || gap_of == &one || !gap_of->final_loss || !same_seeds(one, *gap_of))
        return comparison;
    const std::vector<double> worst = final_losses(*gap_of);
    comparison.gap_closed = ratio_of_means(differences(worst, own), differences(worst, base));
    return comparison;
}

}  // namespace

void compare(const std::vector<LearningScenario>& scenarios, std::vector<LearningResult>& results) {
    std::vector<std::optional<LearningComparison>> comparisons;
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
        const LearningParams& learning = *scenarios[i].learning;
        const std::string with =
            learning.compared_with.empty() ? scenarios.front().name : learning.compared_with;
        const LearningResult* other = find(scenarios, results, with);
        comparisons.push_back(
            other == nullptr
                ? std::nullopt
                : comparison_of(
                      results[i], with, *other, find(scenarios, results, learning.gap_of)));
    }
    for (std::size_t i = 0; i < results.size(); ++i)
        results[i].comparison = std::move(comparisons[i]);
}

}  // namespace switchfold
