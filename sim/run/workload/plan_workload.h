// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/parameters.h"
#include "sim/run/config/training_params.h"
#include "workloads/memory/step/planned_memory.h"
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
    std::optional<PlannedMemory> memory;  ///< if the plan says what stays on the GPU
    std::vector<std::string> notes;       ///< for the results
    [[nodiscard]] ExecutionGraph graph() const;
};

/// The plan of a workload without what needs its network: types and buckets that the workload says
/// for all its ways of training.
[[nodiscard]] ParallelPlan plan_without_network(const TrainingWorkloadParams& workload);

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
