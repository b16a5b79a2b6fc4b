// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/parameters.h"
#include "models/gpu/sm_array.h"

namespace switchfold {

/// Bytes per second that a resident block can have on their way: its threads' loads, and
/// asynchronous copies into its shared memory. `read` and `written`: of the whole kernel.
[[nodiscard]] double
draw_of_block(const BlockShape& block, Bytes read, Bytes written, const GpuParams& gpu);

}  // namespace switchfold
