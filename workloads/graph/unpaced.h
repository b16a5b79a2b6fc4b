// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

namespace switchfold {

/// Without launching calls a trace says when operations ran, not when the host launched them: the
/// host then paces the GPU by the very times that a run without overlap changes. \returns the graph
/// in which it does not: what remains of it are pauses in which the whole GPU was idle. Ranks whose
/// launches are known, generated ones, and graphs with messages stay as they are.
[[nodiscard]] ExecutionGraph without_pace(const ExecutionGraph& graph);

}  // namespace switchfold
