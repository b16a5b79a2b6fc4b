// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/elastic/change.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <vector>

namespace switchfold::elastic {

/// The same work with rank i on GPU gpus[i]; other GPUs do nothing.
[[nodiscard]] ExecutionGraph
placed(const ExecutionGraph& graph, const std::vector<std::uint32_t>& gpus);

/// Combines two graphs of the same ranks that differ only in kernels: ranks with `takes_more` set
/// come from `more`, the others from `less`. Throws InternalError if their groups differ.
[[nodiscard]] ExecutionGraph
joined(const ExecutionGraph& more, const ExecutionGraph& less, const std::vector<bool>& takes_more);

}  // namespace switchfold::elastic
