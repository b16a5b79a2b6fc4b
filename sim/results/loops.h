// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/outcome.h"
#include "sim/output/result.h"
#include "sim/results/slowdowns.h"
#include "workloads/graph/execution_graph.h"

namespace switchfold {

/// Sets what a loop of kernels and a loop of collectives take alone and beside each other, one
/// repetition, with both slowdowns, the causes of the kernels' and the speed-up over one loop after
/// the other. Notes by how much one loop
/// outlasts the other, since that part of it runs alone.
void tell_loops(
    const RunTimes& times, const ExecutionGraph& graph, const Outcome& outcome,
    ScenarioResult& out);

}  // namespace switchfold
