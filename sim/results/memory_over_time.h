// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/outcome.h"
#include "sim/output/result.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// Memory held by a rank of a generated step: one row for each time at which it changes. Empty if
/// it never changes. Throws InternalError naming rank and class if more is freed than was held, or
/// if the end differs from the begin.
[[nodiscard]] std::vector<MemoryRow>
memory_over_time(const ExecutionGraph& graph, const Outcome& outcome, std::uint32_t rank);

/// The rank with the highest peak; none if no rank's memory changes.
[[nodiscard]] std::optional<PeakMemoryResult>
peak_memory(const ExecutionGraph& graph, const Outcome& outcome);

}  // namespace switchfold
