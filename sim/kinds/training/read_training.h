// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/workload/workload_context.h"

namespace switchfold {

/// Generates a training step by a strategy or a plan.
void read_training(
    const TrainingWorkloadParams& w, const WorkloadContext& context, PreparedWorkload& out);

}  // namespace switchfold
