// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/runner.h"

namespace switchfold {

class WorkloadKind;

/// Runs an experiment whose workloads share the machine: in each scenario every workload alone,
/// then all together. The result has one row per scenario and workload, "SCENARIO: WORKLOAD".
/// Throws like run_experiment().
[[nodiscard]] ExperimentResult
run_shared_machine(const LoadedExperiment& loaded, const RunOptions& options);

/// The kind of several workloads that share a machine.
[[nodiscard]] const WorkloadKind& shared_machine_kind();

}  // namespace switchfold
