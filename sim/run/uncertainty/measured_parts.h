// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/machine/outcome.h"
#include "sim/run/uncertainty/part_kinds.h"
#include "sim/run/uncertainty/step_parts.h"
#include "workloads/graph/execution_graph.h"

namespace switchfold {

/// What a simulated step is made of, mean over its ranks and steps, without StepParts::step.
/// `as_traced`: kernels whose time no model gave take what they took on this GPU.
[[nodiscard]] StepParts
step_parts(const ExecutionGraph& graph, const Outcome& outcome, PartKinds kinds, bool as_traced);

/// What one collective is like, for each in the outcome's order.
[[nodiscard]] std::vector<PartKind>
collective_kinds(const ExecutionGraph& graph, const Outcome& outcome, const PartKinds& kinds);

}  // namespace switchfold
