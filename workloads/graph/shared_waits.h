// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <memory>
#include <vector>

namespace switchfold {

/// Ranks run the same program if their GPU streams hold the same operations in the same order.
/// Traces show what an operation waits for only where it began as that ended, so that of one
/// program each rank shows a part. \returns the ranks, each with what any rank of its program waits
/// for, as far as its own operations come in that order. A rank that gains nothing keeps its graph.
[[nodiscard]] std::vector<std::shared_ptr<const RankGraph>>
with_shared_waits(const ExecutionGraph& graph);

}  // namespace switchfold
