// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"
#include "sim/machine/outcome.h"
#include "sim/output/result.h"
#include "sim/results/summary.h"
#include "workloads/graph/execution_graph.h"

namespace switchfold {

/// Results of one simulation: figures, collectives, statistics and notes, except those that compare
/// runs. `times` are those of all its steps.
[[nodiscard]] ScenarioResult
measured_scenario(const ExecutionGraph& graph, const Outcome& outcome, const PhaseTimes& times);

/// Sets name, overlap and the values that the scenario sets.
void tell_scenario(const ScenarioParams& scenario, ScenarioResult& out);

}  // namespace switchfold
