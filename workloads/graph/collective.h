// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

namespace switchfold {

/// One collective over `ranks` ranks and nothing else.
[[nodiscard]] ExecutionGraph
single_collective(CollectiveKind kind, Bytes bytes, Datatype datatype, std::uint32_t ranks);

}  // namespace switchfold
