// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/memory_classes.h"
#include "training/plan/step/plan_step.h"

#include <string>
#include <vector>

namespace switchfold {

/// By device, the least that the plan may need: what its norms keep, if it does not say, is what
/// keeps least.
[[nodiscard]] std::vector<MemoryBytes> least_memory(const PlannedStep& step);

[[nodiscard]] double most_of(const std::vector<MemoryBytes>& devices);

/// Settings of a plan that exceeds `capacity` bytes with which the least that it may need would fit,
/// each alone, in words: "sharding gradients (69.8 GiB)". Empty: none of those that are tried.
[[nodiscard]] std::string settings_that_fit(const PlannedStep& step, double capacity);

}  // namespace switchfold
