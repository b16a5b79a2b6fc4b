// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/result.h"
#include "sim/run/machine/outcome.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// What a rank of a generated step holds, from moment to moment: a forward's activations from its
/// begin on, until the passes that need them have ended. Empty for a rank without passes.
[[nodiscard]] std::vector<MemoryRow>
memory_over_time(const ExecutionGraph& graph, const Outcome& outcome, std::uint32_t rank);

/// Of the fullest rank at its fullest, GiB; none where no rank has passes that keep anything.
[[nodiscard]] std::optional<double>
peak_memory_gib(const ExecutionGraph& graph, const Outcome& outcome);

}  // namespace switchfold
