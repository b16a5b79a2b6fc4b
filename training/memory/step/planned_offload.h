// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/recompute/fastest_recompute.h"
#include "training/memory/step/step_memory.h"

namespace switchfold {

/// The choice's plan of what stays on the GPU.
[[nodiscard]] OffloadPlan retain(
    const MemoryChoice& choice, const TensorUses& schedule,
    TrialDetail detail = TrialDetail::kFull);

}  // namespace switchfold
