// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/training_params.h"
#include "sim/kinds/collective/collective_params.h"
#include "sim/kinds/experts/experts_params.h"
#include "sim/kinds/kernel_beside/kernel_beside_params.h"
#include "sim/kinds/many_core/many_core_params.h"
#include "sim/kinds/trace/trace_params.h"

#include <variant>

namespace switchfold {

/// The kinds of workload, a row each: what one is, is said where its folder defines
/// kind_of(params). Several workloads that share a machine are a kind too, without a row: their
/// parameters are those of the others.
using WorkloadRows = std::variant<
    TraceWorkloadParams, CollectiveWorkloadParams, TrainingWorkloadParams, ExpertsWorkloadParams,
    KernelBesideCollectiveParams, ManyCoreParams>;

}  // namespace switchfold
