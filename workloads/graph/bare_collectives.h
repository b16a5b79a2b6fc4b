// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <memory>
#include <vector>

namespace switchfold {

/// A collective beside which nothing ran on its rank's GPU is not overlapped where it is. A trace
/// shows that work waits for it only where that began as it ended; what a slow host launches
/// afterwards begins later. Where work is known to wait for it, that is where. \returns the ranks,
/// in which such work waits for the collective before it. A rank that gains nothing keeps its
/// graph.
[[nodiscard]] std::vector<std::shared_ptr<const RankGraph>>
with_waits_for_bare(const ExecutionGraph& graph);

}  // namespace switchfold
