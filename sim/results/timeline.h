// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/outcome.h"
#include "sim/output/timeline.h"
#include "workloads/graph/execution_graph.h"

#include <string>

namespace switchfold {

/// Adds a scenario: one process per rank (ranks that share a trace once), its steps and streams,
/// arrows from the operation that a collective waited for, the counters of rank 0; and one process
/// for the switches' reductions, with arrows from rank 0's collectives.
void add_to_timeline(
    TimelineWriter& writer, const std::string& scenario, const ExecutionGraph& graph,
    const Outcome& outcome);

}  // namespace switchfold
