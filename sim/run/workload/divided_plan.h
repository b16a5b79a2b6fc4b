// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/plan_params.h"
#include "sim/run/config/rank_gpus.h"
#include "workloads/kernels/kernel_times.h"
#include "workloads/network/network.h"
#include "workloads/plan/step/plan_step.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// A step whose ranks differ: in their GPUs, or in the samples of their replica.
struct DividedPlan {
    std::vector<std::unique_ptr<PlannedStep>> steps;  ///< of ranks that are alike one
    std::vector<const PlannedStep*> by_rank;          ///< none where a replica has no samples
    bool equal_samples = true;                        ///< of replicas, and of micro-batches
    std::vector<std::string> notes;                   ///< for the results
};

/// Divides the plan's batch and makes every rank's step, for times of the kinds of GPUs that its
/// ranks have (none for others). `plan` is of the share of a replica if all were equal. None if
/// there are problems, with pointers below the plan.
[[nodiscard]] std::optional<DividedPlan> divided_plan(
    const PlanParams& params,
    const ParallelPlan& plan,
    const Network& network,
    const RankGpus& gpus,
    const std::vector<std::optional<KernelTimes>>& times,
    PlanProblems& problems);

/// Samples of the global batch that a replica has at most, if all have as many.
[[nodiscard]] std::uint32_t even_share(const PlanParams& params);

/// What to know of batch normalisation where a plan takes several micro-batches; empty if nothing.
[[nodiscard]] std::string told_normalisation(const ParallelPlan& plan, const Network& network);

}  // namespace switchfold
