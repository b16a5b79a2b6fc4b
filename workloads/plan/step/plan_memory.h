// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/plan/step/plan_step.h"

#include <vector>

namespace switchfold {

/// What a rank of each of a pipeline's devices holds at its fullest, bytes: weights in all versions
/// that a schedule without flush keeps, gradients in the type in which they travel, moments and
/// 32-bit copies of 16-bit weights, activations of the micro-batches in flight. Weights that come
/// together for a moment (ZeRO 3), workspaces and the framework's own memory are left out.
[[nodiscard]] std::vector<MemoryBytes> plan_memory(const PlannedStep& step);

}  // namespace switchfold
