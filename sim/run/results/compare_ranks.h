// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/machine/outcome.h"
#include "workloads/graph/execution_graph.h"

namespace switchfold {

/// How much the ranks of a run differ in the time that their kernels take, and which of them the
/// others wait for in collectives while they compute nothing: figures and a note of the scenario.
/// Nothing where fewer than two ranks work.
void compare_ranks(const ExecutionGraph& graph, const Outcome& outcome, ScenarioResult& out);

}  // namespace switchfold
