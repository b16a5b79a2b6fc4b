// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/plan/step/plan_step.h"

#include <vector>

namespace switchfold {

/// What a rank of each of a pipeline's devices holds from begin to end: weights in all versions
/// that a schedule without flush keeps, gradients in the type in which they travel and, if they are
/// no views of them, the buckets into which they are copied, moments and 32-bit copies of 16-bit
/// weights.
[[nodiscard]] std::vector<MemoryBytes> held_all_along(const PlannedStep& step);

/// What it holds at its fullest: activations of the micro-batches in flight too, and what backward
/// computes again. Left out are weights that come together for a moment (ZeRO 3), gradients that
/// travel before a rank has only its part of them (ZeRO 2 and 3: how many at once only a simulation
/// tells), libraries' workspaces and the framework's own memory.
[[nodiscard]] std::vector<MemoryBytes> plan_memory(const PlannedStep& step);

}  // namespace switchfold
