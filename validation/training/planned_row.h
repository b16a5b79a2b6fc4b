// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/pool/progress.h"
#include "validation/training/step_rows.h"
#include "workloads/plan/step/plan_step.h"

#include <filesystem>
#include <memory>
#include <string>

namespace switchfold::validation {

/// A row with the machine that it was measured on, ready to run.
struct PlannedRow {
    const StepRow* row = nullptr;
    std::shared_ptr<const SystemParams> system;
    std::shared_ptr<const PlannedStep> step;
};

/// `root`: of the repository.
[[nodiscard]] PlannedRow
planned_row(const StepRow& row, const SystemParams& system, const std::filesystem::path& root);

/// A file of configs/launches.
[[nodiscard]] LaunchTimes
shipped_launches(const std::filesystem::path& root, const std::string& name);

/// Seconds of a step, simulated in this process; folded if it is told so.
[[nodiscard]] double
simulated_seconds(const PlannedRow& planned, bool fold, const JobProgress& progress);

}  // namespace switchfold::validation
