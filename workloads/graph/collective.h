// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

namespace switchfold {

/// One collective over `ranks` ranks and nothing else.
[[nodiscard]] ExecutionGraph
single_collective(CollectiveKind kind, Bytes bytes, Datatype datatype, std::uint32_t ranks);

/// Bus bandwidth over size by time (nccl-tests, doc/PERFORMANCE.md). The size is the larger side's.
[[nodiscard]] double bus_factor(CollectiveKind kind, std::uint32_t ranks);

}  // namespace switchfold
