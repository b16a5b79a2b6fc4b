// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/kinds/trace/trace_params.h"
#include "sim/kinds/workload_builder.h"

#include <memory>

namespace switchfold {

/// Whether ranks that do what traced ones do are not to be simulated.
[[nodiscard]] bool is_to_fold(const TraceWorkloadParams& w, const Experiment& experiment);

/// Reads traces and completes what they leave open: ranks, sizes, lateness, times on another GPU.
[[nodiscard]] std::unique_ptr<WorkloadBuilder>
trace_builder(const TraceWorkloadParams& w, const WorkloadContext& context, PreparedWorkload& out);

}  // namespace switchfold
