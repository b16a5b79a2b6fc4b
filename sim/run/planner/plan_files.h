// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/json.h"
#include "sim/run/planner/planner.h"

#include <filesystem>
#include <string>

namespace switchfold {

/// What a candidate chooses, as the `plan` of a workload says it.
[[nodiscard]] OrderedJson plan_json(const PlanCandidate& candidate);

/// The experiment of a candidate as a file in `folder` says it: what the experiment's file says,
/// with the plan and its one scenario, and paths that lead from there to where they led before.
[[nodiscard]] std::string experiment_text(
    const PlanCandidate& candidate,
    const LoadedExperiment& loaded,
    const std::filesystem::path& folder);

/// A line a plan that was simulated, the fastest first.
[[nodiscard]] std::string plans_csv(const LoadedExperiment& loaded, const PlannerResult& result);

/// plan.json and plans.csv.
void write_plan_files(
    const std::filesystem::path& folder,
    const LoadedExperiment& loaded,
    const PlannerResult& result);

}  // namespace switchfold
