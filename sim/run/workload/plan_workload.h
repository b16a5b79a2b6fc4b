// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/rank_gpus.h"
#include "sim/run/config/training_params.h"
#include "sim/run/workload/divided_plan.h"
#include "workloads/memory/step/planned_memory.h"
#include "workloads/plan/average/average_plan.h"
#include "workloads/plan/step/plan_step.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

class PlannedCut;

/// A training workload with a plan, as its generator reads it.
struct PreparedPlan {
    /// Of a divided plan that of an equal share on one GPU; none where layers are cut.
    std::unique_ptr<PlannedStep> step;
    std::shared_ptr<const PlannedCut> cut;  ///< if parts of layers and branches are on the GPUs
    std::optional<DividedPlan> divided;     ///< if ranks differ, or global_batch is divided
    std::optional<PlannedMemory> memory;    ///< if the plan says what stays on the GPU
    std::optional<AveragePlan> average;     ///< if replicas train by themselves: `step` is one's
    std::uint32_t ranks = 0;
    std::vector<std::string> notes;  ///< for the results
    [[nodiscard]] ExecutionGraph graph() const;
};

/// The plan of a workload without what needs its network: types and buckets that the workload says
/// for all its ways of training.
[[nodiscard]] ParallelPlan plan_without_network(const TrainingWorkloadParams& workload);

/// Reads and checks all of it: the network, layers that the partition names, the schedule's file,
/// whether the plan suits the network, how it divides a batch, the memory of each GPU. None if
/// there are problems, with pointers below the plan; ConfigError and IoError for files that are
/// wrong. `folder` is what paths are relative to.
[[nodiscard]] std::optional<PreparedPlan> prepare_plan(
    const TrainingWorkloadParams& workload,
    const RankGpus& gpus,
    const std::filesystem::path& folder,
    PlanProblems& problems);

}  // namespace switchfold
