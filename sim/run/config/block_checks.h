// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/parameters.h"
#include "models/gpu/parameters.h"
#include "sim/core/params.h"

namespace switchfold {

/// Tells of thread blocks of collectives that do not fit on an empty SM of this GPU, at what makes
/// them too large.
void check_blocks(const GpuParams& gpu, const CollectiveParams& collectives, ParamChecker& checker);

}  // namespace switchfold
