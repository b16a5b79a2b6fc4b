// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/runner.h"

namespace switchfold {

/// run_experiment() of one workload that has the GPUs of its machine to itself: its scenarios, the
/// runs for their causes, learning and changes of members along them.
[[nodiscard]] ExperimentResult
run_single_workload(const LoadedExperiment& loaded, const RunOptions& options);

}  // namespace switchfold
