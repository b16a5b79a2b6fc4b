// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/memory_check_params.h"
#include "sim/config/plan_params.h"
#include "sim/config/rank_gpus.h"
#include "training/network/network.h"
#include "training/plan/step/plan_step.h"
#include "workloads/kernels/kernel_times.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// A step whose ranks differ in their GPUs or in the samples of their replica.
struct DividedPlan {
    std::vector<std::unique_ptr<TrainingStep>> steps;  ///< one per set of equal ranks
    std::vector<const TrainingStep*> by_rank;          ///< null if the replica has no samples
    bool equal_samples = true;                         ///< over replicas and micro-batches
    std::vector<std::string> notes;                    ///< for the results
};

/// Divides the plan's batch and builds every rank's step, given kernel times for the kinds of GPUs
/// in use (none for others). `plan` describes the share of a replica if all were equal. If the plan
/// averages replicas, which train apart, each step is that of its replica alone, with data 1.
/// Nothing if there are problems; their pointers are relative to the plan.
[[nodiscard]] std::optional<DividedPlan> divided_plan(
    const PlanParams& params, const ParallelPlan& plan, const Network& network,
    const RankGpus& gpus, const std::vector<std::optional<KernelTimes>>& times, MemoryCheck check,
    PlanProblems& problems);

/// Most samples of the global batch per replica, if divided evenly.
[[nodiscard]] std::uint32_t even_share(const PlanParams& params);

/// A caveat on batch normalisation if a plan uses several micro-batches; empty if none.
[[nodiscard]] std::string told_normalisation(const ParallelPlan& plan, const Network& network);

}  // namespace switchfold
