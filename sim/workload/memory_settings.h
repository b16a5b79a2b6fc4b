// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/parameters.h"
#include "sim/config/memory_check_params.h"
#include "training/plan/step/plan_step.h"

#include <string>

namespace switchfold {

/// Checks a plan's memory (check_memory) and says what it needs. What its norms keep, if it does
/// not say, is no reason to refuse it: it is refused if even the least that it may need is too
/// much, with the settings, each alone, that would make it fit.
[[nodiscard]] std::string need_memory(
    const GpuParams& gpu, const TrainingStep& step, MemoryCheck check, PlanProblems& problems);

}  // namespace switchfold
