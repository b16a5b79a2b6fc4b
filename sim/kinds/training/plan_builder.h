// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"
#include "sim/config/training_params.h"
#include "sim/kinds/workload_builder.h"

#include <memory>

namespace switchfold {

/// Whether ranks of a plan that do the same are to be simulated once, if some do.
[[nodiscard]] bool is_to_fold(const TrainingWorkloadParams& w, const Experiment& experiment);

/// A training step by a plan, or by the one that a strategy stands for.
[[nodiscard]] std::unique_ptr<WorkloadBuilder> plan_builder(
    const TrainingWorkloadParams& w, const WorkloadContext& context, PreparedWorkload& out);

}  // namespace switchfold
