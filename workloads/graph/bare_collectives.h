// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <memory>
#include <vector>

namespace switchfold {

/// A collective beside which nothing ran on its rank's GPU, though more had been launched by then,
/// is not overlapped where it is. A trace shows that work waits for it only where that began as it
/// ended; behind a slow host it begins later. \returns the ranks, in which the work that began next
/// waits for each of these. A rank that gains nothing keeps its graph.
[[nodiscard]] std::vector<std::shared_ptr<const RankGraph>>
with_waits_for_bare(const ExecutionGraph& graph);

}  // namespace switchfold
