// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/training_params.h"
#include "workloads/network/network.h"
#include "workloads/plan/step/plan_step.h"

#include <filesystem>

namespace switchfold {

/// The plan of a training workload, which has one, as its generator reads it. Names of layers that
/// the network does not have are told as problems; ConfigError for a schedule's file that is wrong.
/// `folder` is what paths are relative to.
[[nodiscard]] ParallelPlan plan_of(
    const TrainingWorkloadParams& workload,
    const Network& network,
    const std::filesystem::path& folder,
    PlanProblems& problems);

/// Fills in the partition that PipeDream's planner finds, a device a stage, if the plan wants it:
/// it needs the times of kernels. A partition that fits in no memory is told as a problem.
void plan_partition(
    const PlanParams& params,
    const Network& network,
    const KernelTimes& times,
    Bytes memory,
    ParallelPlan& plan,
    PlanProblems& problems);

}  // namespace switchfold
