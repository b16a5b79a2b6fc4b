// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/workload/workload_context.h"

namespace switchfold {

/// Reads traces and completes what they leave open: ranks, sizes, lateness, times on another GPU.
void read_trace(
    const TraceWorkloadParams& w, const WorkloadContext& context, PreparedWorkload& out);

}  // namespace switchfold
