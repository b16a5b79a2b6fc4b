// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/results/learning_jobs.h"

#include <vector>

namespace switchfold {

/// Compares each scenario's trainings with those of the one that it names, seed by seed, where both
/// have the same seeds and measure the same loss.
void compare(const std::vector<LearningScenario>& scenarios, std::vector<LearningResult>& results);

}  // namespace switchfold
