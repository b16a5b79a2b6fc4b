// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/runner.h"

namespace switchfold {

/// Runs an experiment whose workloads share the machine: each alone, then all together, in each
/// scenario. The result has a row for each scenario and workload, "SCENARIO: WORKLOAD". Throws what
/// run_experiment() throws.
[[nodiscard]] ExperimentResult
run_shared_machine(const LoadedExperiment& loaded, const RunOptions& options);

}  // namespace switchfold
