// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/workload/plan_workload.h"

namespace switchfold {

/// prepare_plan() for a plan with a cut.
[[nodiscard]] std::optional<PreparedPlan> prepare_placement(
    const TrainingWorkloadParams& workload, const RankGpus& gpus,
    const std::filesystem::path& folder, PlanProblems& problems, MemoryCheck check);

}  // namespace switchfold
