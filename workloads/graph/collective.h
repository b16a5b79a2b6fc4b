// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

namespace switchfold {

/// One collective over `ranks` ranks and nothing else.
[[nodiscard]] ExecutionGraph
single_collective(CollectiveKind kind, Bytes bytes, Datatype datatype, std::uint32_t ranks);

/// Ratio of bus bandwidth to size over time (nccl-tests, doc/PERFORMANCE.md). The size is that of
/// the larger of input and output.
[[nodiscard]] double bus_factor(CollectiveKind kind, std::uint32_t ranks);

}  // namespace switchfold
