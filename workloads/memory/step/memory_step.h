// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"
#include "workloads/memory/step/planned_memory.h"
#include "workloads/plan/step/plan_step.h"

namespace switchfold {

/// One step layer by layer, with the copies that its memory plan asks for: in on one stream, out on
/// another, through the staging ring. A kernel waits for what it reads and for room for what it
/// makes; a gradient of weights waits for room that updates give back. With `plan.data` ranks,
/// gradients are reduced group by group, and updates wait for that.
/// \pre planned.plan has no refusal.
[[nodiscard]] ExecutionGraph memory_step(const PlannedStep& step, const PlannedMemory& planned);

}  // namespace switchfold
