// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/outcome.h"
#include "workloads/graph/execution_graph.h"

namespace switchfold {

/// Compares kernel times over the ranks of a run, and finds ranks for which all others wait in
/// collectives without computing; sets figures and a note of the scenario. No effect with fewer
/// than two active ranks.
void compare_ranks(const ExecutionGraph& graph, const Outcome& outcome, ScenarioResult& out);

}  // namespace switchfold
