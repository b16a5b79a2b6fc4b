// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/parameters.h"
#include "sim/run/config/training_params.h"
#include "workloads/plan/step/plan_step.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// A training workload with a plan, as its generator reads it.
struct PreparedPlan {
    std::unique_ptr<PlannedStep> step;
    std::vector<std::string> notes;  ///< for the results
};

/// Reads and checks all of it: the network, layers that the partition names, the schedule's file,
/// whether the plan suits the network, the memory of such a GPU. None if there are problems, with
/// pointers below the plan; ConfigError and IoError for files that are wrong. `folder` is what
/// paths are relative to.
[[nodiscard]] std::optional<PreparedPlan> prepare_plan(
    const TrainingWorkloadParams& workload,
    const GpuParams& gpu,
    const std::filesystem::path& folder,
    PlanProblems& problems);

}  // namespace switchfold
