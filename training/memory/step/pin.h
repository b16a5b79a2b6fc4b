// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/recompute/fastest_recompute.h"
#include "training/memory/step/planned_memory.h"

namespace switchfold {

/// The choice's plan of what stays on the GPU.
[[nodiscard]] PinningPlan
pin(const MemoryChoice& choice, const AccessSchedule& schedule,
    TrialDetail detail = TrialDetail::kFull);

}  // namespace switchfold
