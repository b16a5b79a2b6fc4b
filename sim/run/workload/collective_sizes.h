// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/experiment.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>

namespace switchfold {

/// Replaces unknown collective sizes by what the machine would move in the measured time. Of the
/// occurrences of a collective over the steps, the shortest is used, because others waited for
/// peers. \returns the number of sizes replaced.
std::uint32_t estimate_collective_sizes(const SystemParams& system, ExecutionGraph& graph);

}  // namespace switchfold
