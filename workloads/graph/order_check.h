// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <string>
#include <vector>

namespace switchfold {

/// Why the graph cannot run to its end on any machine, a sentence each, at most eight: ranks that
/// wait for each other in a circle, a collective that a member never calls or calls with another
/// kind or size, a send without its receive. Empty if it can. Takes no time from the graph: what is
/// ready ends at once.
[[nodiscard]] std::vector<std::string> why_it_cannot_end(const ExecutionGraph& graph);

}  // namespace switchfold
