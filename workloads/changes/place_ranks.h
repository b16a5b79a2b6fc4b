// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/changes/change.h"
#include "workloads/graph/execution_graph.h"

#include <vector>

namespace switchfold::changes {

/// The same work with rank i on GPU members[i]: GPUs in between do nothing.
[[nodiscard]] ExecutionGraph placed(const ExecutionGraph& graph, const Members& members);

/// Two graphs of the same ranks that differ in kernels alone: those ranks of `more` for which
/// `takes_more` says so, the others of `less`. Throws InternalError if their groups differ.
[[nodiscard]] ExecutionGraph
joined(const ExecutionGraph& more, const ExecutionGraph& less, const std::vector<bool>& takes_more);

}  // namespace switchfold::changes
