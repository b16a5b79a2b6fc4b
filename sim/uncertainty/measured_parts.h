// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/outcome.h"
#include "sim/uncertainty/part_kinds.h"
#include "sim/uncertainty/step_parts.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Where a step's kernels are from.
enum class KernelsOf : std::uint8_t {
    kModel,
    kTrace,  ///< of this GPU: those whose time no model gave take what they took there
    kLoops,  ///< one beside a collective, each in a loop
};

/// What a simulated step is made of, mean over its ranks and steps, without PartsOfStep::step.
[[nodiscard]] PartsOfStep
step_parts(const ExecutionGraph& graph, const Outcome& outcome, PartKinds kinds, KernelsOf kernels);

/// What one collective is like, for each in the outcome's order.
[[nodiscard]] std::vector<PartKind>
collective_kinds(const ExecutionGraph& graph, const Outcome& outcome, const PartKinds& kinds);

}  // namespace switchfold
