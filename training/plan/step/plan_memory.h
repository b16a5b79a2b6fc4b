// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/step/plan_step.h"

#include <vector>

namespace switchfold {

/// Memory that a rank of each pipeline device holds throughout the step: weights in all versions
/// that a schedule without flush keeps, gradients in the type of their collectives, buckets unless
/// gradients are views of them, moments, and 32-bit copies of 16-bit weights.
[[nodiscard]] std::vector<MemoryBytes> held_all_along(const TrainingStep& step);

/// Peak memory of a rank of each device: adds the activations of micro-batches in flight and
/// recomputed ones. Excludes weights gathered temporarily (ZeRO-3), gradients in flight before they
/// are sharded (ZeRO-2 and -3: only a simulation knows how many), libraries' workspaces and the
/// framework's own memory.
[[nodiscard]] std::vector<MemoryBytes> plan_memory(const TrainingStep& step);

}  // namespace switchfold
