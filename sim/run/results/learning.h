// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/result.h"
#include "sim/run/config/learning_params.h"
#include "workloads/learning/train/run.h"
#include "workloads/plan/step/parallel_plan.h"

#include <span>
#include <vector>

namespace switchfold {

/// Mean and 95 % interval of values, one a seed.
[[nodiscard]] SeedMean mean_of(std::span<const double> values);

/// What a scenario's trainings say, one a seed from the first on.
[[nodiscard]] LearningResult learning_result(
    const LearningParams& learning,
    WeightPolicy policy,
    const std::vector<learning::TrainingRun>& runs);

/// The figures that sweeps keep of it.
void set_figures(const LearningResult& learning, ScenarioFigures& figures);

}  // namespace switchfold
