// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/kinds/trace/trace_params.h"
#include "sim/workload/workload_context.h"
#include "workloads/profile/trace_workload.h"

#include <vector>

namespace switchfold {

/// Sets the isolated durations of a trace's kernels on the experiment's GPUs (`kernel_times` of the
/// workload) and notes what they follow from. `out.graph` is placed; `traced_on` is the machine
/// that stands for the traced one, `files` what its traces state. Throws ConfigError if times are
/// to be rescaled from a GPU that is not known.
void set_traced_kernels(
    const TraceWorkloadParams& w, const WorkloadContext& context, const SystemParams& traced_on,
    const std::vector<TraceFileReport>& files, PreparedWorkload& out);

}  // namespace switchfold
