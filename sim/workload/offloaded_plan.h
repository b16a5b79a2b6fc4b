// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/workload/plan_workload.h"

namespace switchfold {

/// Plans what stays on the GPU. Rejects what cannot be planned or does not fit, suggesting the
/// largest micro-batch that fits.
void use_memory(
    const RankGpus& gpus, const GpuParams& gpu, const PlanParams& params, PreparedPlan& prepared,
    PlanProblems& problems);

}  // namespace switchfold
