// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/learning_params.h"
#include "sim/output/result.h"
#include "training/learning/train/run.h"
#include "training/plan/step/parallel_plan.h"

#include <optional>
#include <span>
#include <vector>

namespace switchfold {

/// Mean and 95 % interval of values, one per seed.
[[nodiscard]] SeedMean mean_of(std::span<const double> values);
/// Ratio of the means of paired values. Its interval is that of the linear form one - ratio x other
/// (ratio estimator), divided by the other's mean. None if the other's mean is zero.
[[nodiscard]] std::optional<SeedMean>
ratio_of_means(std::span<const double> one, std::span<const double> other);

/// Summarises a scenario's trainings, one per seed, starting with the first.
[[nodiscard]] LearningResult learning_result(
    const LearningParams& learning, WeightPolicy policy,
    const std::vector<learning::TrainingRun>& runs);

}  // namespace switchfold
