// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/results/learning_jobs.h"

#include <vector>

namespace switchfold {

/// Compares each scenario's trainings with those of its reference scenario, seed by seed, if both
/// have the same seeds and loss.
void compare(const std::vector<LearningScenario>& scenarios, std::vector<LearningResult>& results);

}  // namespace switchfold
