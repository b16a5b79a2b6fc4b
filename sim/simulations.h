// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/outcome.h"
#include "sim/machine/simulate.h"
#include "sim/pool/pool.h"
#include "sim/results/causes.h"
#include "sim/runner.h"

#include <set>
#include <span>
#include <string>
#include <vector>

namespace switchfold {

/// These mechanisms on, the others off.
[[nodiscard]] Contention contention_with(MechanismSet on);
/// What the machine has of kMechanisms, and which of that was measured on other GPUs only.
[[nodiscard]] MechanismSet mechanisms_of(const SystemParams& system);
[[nodiscard]] MechanismSet unmeasured_of(const SystemParams& system);
/// Notes that slowdowns on these systems are ranges, and why, if they are.
void note_ranges(const std::vector<const SystemParams*>& systems, std::vector<std::string>& notes);

/// Options common to all simulations of an experiment and one of its scenarios.
[[nodiscard]] SimulateOptions
simulate_options(const Experiment& experiment, const ScenarioParams& scenario);

/// A simulation as a job. Machine and graph must outlive it.
[[nodiscard]] Job simulation(
    std::string label, const SystemParams& system, const ExecutionGraph& graph,
    const CollectivePolicies& policies, const SimulateOptions& options);

/// Runs simulations. \returns their outcomes in job order. Throws the error of a failed one.
[[nodiscard]] std::vector<Outcome>
run_simulations(std::span<const Job> jobs, const RunOptions& options);

/// Runs jobs where the options say, and tells whom they name that they are of the phase. `options`
/// must outlive it.
[[nodiscard]] RunJobs jobs_of(const RunOptions& options, WorkPhase phase = WorkPhase::kSimulating);

}  // namespace switchfold
