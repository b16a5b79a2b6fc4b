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

}  // namespace switchfold
