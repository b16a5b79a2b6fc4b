// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/runner.h"

namespace switchfold {

/// Runs an experiment on a many-core coprocessor or its host. Throws like run_experiment().
[[nodiscard]] ExperimentResult
run_many_core(const LoadedExperiment& loaded, const RunOptions& options);

}  // namespace switchfold
