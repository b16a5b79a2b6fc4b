// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "sim/planner/planner.h"

#include <filesystem>
#include <string>

namespace switchfold {

/// A candidate's choices, in the form of a workload's `plan`.
[[nodiscard]] OrderedJson plan_json(const PlanCandidate& candidate);

/// A candidate's experiment for a file in `folder`: the content of the experiment's file with the
/// plan and its one scenario, and with paths rewritten to lead to the same files.
[[nodiscard]] std::string experiment_text(
    const PlanCandidate& candidate, const LoadedExperiment& loaded,
    const std::filesystem::path& folder);

/// One line per simulated plan, fastest first.
[[nodiscard]] std::string plans_csv(const LoadedExperiment& loaded, const PlannerResult& result);

/// Writes plan.json and plans.csv.
void write_plan_files(
    const std::filesystem::path& folder, const LoadedExperiment& loaded,
    const PlannerResult& result);

}  // namespace switchfold
