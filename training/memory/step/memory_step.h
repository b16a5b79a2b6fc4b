// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/step/step_memory.h"
#include "training/plan/step/plan_step.h"
#include "workloads/graph/execution_graph.h"

#include <map>
#include <vector>

namespace switchfold {

/// One step layer by layer, with the copies that its memory plan requires: inbound on one stream,
/// outbound on another, through the staging ring. A kernel waits for its inputs and for room for
/// its results; a weight gradient waits for room that updates free. With `plan.data` > 1, gradients
/// are reduced group by group, and updates wait for the reduction.
/// \pre planned.plan has no refusal.
[[nodiscard]] ExecutionGraph memory_step(const TrainingStep& step, const StepMemory& planned);

/// A step whose ranks differ in GPUs or samples (plan_step()), with the memory of each.
using PlannedMemories = std::map<const TrainingStep*, StepMemory>;
[[nodiscard]] ExecutionGraph
memory_step(const std::vector<const TrainingStep*>& by_rank, const PlannedMemories& memories);

}  // namespace switchfold
