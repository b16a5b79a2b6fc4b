// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/timeline.h"
#include "sim/run/machine/outcome.h"
#include "workloads/graph/execution_graph.h"

#include <string>

namespace switchfold {

/// Adds a scenario: a process a rank (ranks that share a trace once), its steps and streams, an
/// arrow from the kernel that a collective waited for, the counters of rank 0; and a process of the
/// switches with what they reduced, an arrow from rank 0's collective to it.
void add_to_timeline(
    TimelineWriter& writer,
    const std::string& scenario,
    const ExecutionGraph& graph,
    const Outcome& outcome);

}  // namespace switchfold
