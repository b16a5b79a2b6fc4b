// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/memory_check_params.h"
#include "sim/config/rank_gpus.h"
#include "sim/config/training_params.h"
#include "sim/workload/divided_plan.h"
#include "training/memory/step/memory_step.h"
#include "training/memory/step/planned_devices.h"
#include "training/plan/average/averaged_step.h"
#include "training/plan/step/plan_step.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

class PlacedStep;

/// A training workload with a plan, ready for its generator.
struct PreparedPlan {
    /// For a divided plan: an equal share on one GPU; null if layers are cut.
    std::unique_ptr<TrainingStep> step;
    std::shared_ptr<const PlacedStep> cut;  ///< for a network divided by layers and branches
    std::optional<DividedPlan> divided;     ///< if ranks differ, or global_batch is divided
    std::optional<StepMemory> memory;       ///< if the plan controls what stays on the GPU
    PlannedMemories memories;  ///< the same where replicas differ and update within passes
    std::shared_ptr<const PlannedDevices> devices;  ///< where GPUs have parts of their own
    /// What stays on the GPU, or on that which copies most; null if all does.
    [[nodiscard]] const StepMemory* planned() const;
    std::optional<AveragePlan> average;  ///< if replicas train independently: `step` is that of one
    std::uint32_t ranks = 0;
    std::vector<std::string> notes;  ///< for the results
    [[nodiscard]] ExecutionGraph graph() const;

private:
    [[nodiscard]] ExecutionGraph
    graph_of_ranks(const std::vector<const TrainingStep*>& by_rank) const;
    [[nodiscard]] std::vector<ReplicaApart> replicas_apart() const;
};

/// The plan of a workload as far as it does not depend on the network: types and buckets common to
/// all strategies.
[[nodiscard]] ParallelPlan plan_without_network(const TrainingWorkloadParams& workload);

/// Reads and checks everything: the network, layers named by the partition, the schedule's file,
/// whether the plan suits the network, the division of the batch, the memory of each GPU. Nothing
/// if there are problems, whose pointers are relative to the plan; throws ConfigError and IoError
/// for invalid files. Paths are relative to `folder`. `check`: whether lack of memory is a problem
/// or a note.
[[nodiscard]] std::optional<PreparedPlan> prepare_plan(
    const TrainingWorkloadParams& workload, const RankGpus& gpus,
    const std::filesystem::path& folder, PlanProblems& problems,
    MemoryCheck check = MemoryCheck::kCheck);

}  // namespace switchfold
