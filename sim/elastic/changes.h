// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error.h"
#include "sim/config/experiment.h"
#include "sim/machine/simulate.h"
#include "sim/output/changes_result.h"
#include "sim/results/learning_jobs.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace switchfold {

/// A scenario whose run has changes of members.
struct ChangeScenario {
    std::string name;
    std::size_t index = 0;  ///< among the experiment's scenarios
    const Experiment* experiment = nullptr;
    const SystemParams* system = nullptr;  ///< including the experiment's faults
    CollectivePolicies policies;
    SimulateOptions options;
    bool overlap = true;
};

/// Converts problems of a scenario's run (pointers into the experiment, sentences) to an error of
/// the file that contains it.
using BlameRun = std::function<ConfigError(std::size_t scenario, const PlanProblems& problems)>;

/// Simulates each distinct step and transfer of the runs once, and composes the runs. `file`: the
/// experiment's.
[[nodiscard]] std::vector<ChangesResult> run_changes(
    const std::vector<ChangeScenario>& scenarios, const std::filesystem::path& file,
    const RunJobs& run, const BlameRun& blame);

}  // namespace switchfold
