// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/error.h"
#include "sim/output/changes_result.h"
#include "sim/run/config/experiment.h"
#include "sim/run/machine/simulate.h"
#include "sim/run/results/learning_jobs.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace switchfold {

/// A scenario whose run has changes.
struct ChangeScenario {
    std::string name;
    std::size_t index = 0;  ///< of the experiment's scenarios
    const Experiment* experiment = nullptr;
    const SystemParams* system = nullptr;  ///< with the experiment's faults
    CollectivePolicies policies;
    SimulateOptions options;
    bool overlap = true;
};

/// What is wrong with a scenario's run, pointers into the experiment and sentences, as the error of
/// the file that it stands in.
using BlameRun = std::function<ConfigError(std::size_t scenario, const PlanProblems& problems)>;

/// Simulates the step of each set of members, and what travels at changes, once, and lays the runs
/// out. `file`: the experiment's.
[[nodiscard]] std::vector<ChangesResult> run_changes(
    const std::vector<ChangeScenario>& scenarios,
    const std::filesystem::path& file,
    const RunJobs& run,
    const BlameRun& blame);

}  // namespace switchfold
