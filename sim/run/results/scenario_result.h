// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/result.h"
#include "sim/run/config/experiment.h"
#include "sim/run/machine/outcome.h"
#include "workloads/graph/execution_graph.h"

namespace switchfold {

/// What one simulation shows of a graph: figures, collectives, statistics and notes, without what
/// needs a run to compare with.
[[nodiscard]] ScenarioResult measured_scenario(const ExecutionGraph& graph, const Outcome& outcome);

/// Its name, whether it overlaps, and what it sets.
void tell_scenario(const ScenarioParams& scenario, ScenarioResult& out);

}  // namespace switchfold
