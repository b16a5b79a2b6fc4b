// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/result.h"
#include "sim/run/machine/outcome.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// What a rank of a generated step holds, from moment to moment: a row for each moment at which
/// that changes. Empty for a rank whose memory does not. Throws InternalError naming rank and class
/// if more was freed than is there, or if anything but what it holds all along is left in the end.
[[nodiscard]] std::vector<MemoryRow>
memory_over_time(const ExecutionGraph& graph, const Outcome& outcome, std::uint32_t rank);

/// The fullest rank at its fullest; none where no rank's memory changes.
[[nodiscard]] std::optional<PeakMemoryResult>
peak_memory(const ExecutionGraph& graph, const Outcome& outcome);

}  // namespace switchfold
