// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/result.h"
#include "sim/run/config/learning_params.h"
#include "workloads/learning/train/run.h"
#include "workloads/plan/step/parallel_plan.h"

#include <optional>
#include <span>
#include <vector>

namespace switchfold {

/// Mean and 95 % interval of values, one a seed.
[[nodiscard]] SeedMean mean_of(std::span<const double> values);
/// Mean of the one over mean of the other, drawn in pairs, with the interval of its linear form
/// (as of a ratio estimator): that of one - ratio x other, over the other's mean. None where the
/// other's mean is zero.
[[nodiscard]] std::optional<SeedMean>
ratio_of_means(std::span<const double> one, std::span<const double> other);

/// What a scenario's trainings say, one a seed from the first on.
[[nodiscard]] LearningResult learning_result(
    const LearningParams& learning,
    WeightPolicy policy,
    const std::vector<learning::TrainingRun>& runs);

/// The figures that sweeps keep of it.
void set_figures(const LearningResult& learning, ScenarioFigures& figures);

}  // namespace switchfold
