// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/workload/workload_context.h"

namespace switchfold {

/// Kernels of a trace without a time (DurationSource::kCounts) take that of their operations or of
/// their bytes, whichever is longer, at the peak rates of the GPU that runs them, as by ASTRA-sim's
/// roofline. `out.graph` is placed; a note says so for each kind of GPU.
void set_counted_kernels(const WorkloadContext& context, PreparedWorkload& out);

}  // namespace switchfold
