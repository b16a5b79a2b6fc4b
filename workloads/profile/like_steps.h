// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchfold {

/// What makes two GPU events the same work: kernel, launch shape and stream.
[[nodiscard]] std::uint64_t work_of(const RawGpuEvent& gpu);

/// By step: its works in launch order.
using StepWorks = std::vector<std::vector<std::uint64_t>>;

/// Steps that nothing but their ends mark also hold what ran between them: how many works at the
/// beginning of each are not its own. Own is what most steps hold, if others end with it (warm-up,
/// evaluation, an iteration whose optimizer was skipped come before it). The first step may be cut:
/// it alone tells nothing.
[[nodiscard]] std::vector<std::size_t> works_before_own(const StepWorks& steps);

/// How many steps in a row are one iteration, since they take turns: 2 where two optimizers do. 1
/// if all do the same, or too few repeat. `updates`: name and works of the optimizer that ends each
/// step.
/// Steps that differ a little, say by what is logged every tenth time, do not take turns.
[[nodiscard]] std::size_t steps_in_turn(const StepWorks& steps, const StepWorks& updates);

}  // namespace switchfold
