// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/experiment.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>

namespace switchfold {

/// Replaces unknown collective sizes by what the machine would move in the measured time: the
/// shortest of the occurrences of the same collective over the steps, since the others waited
/// longer for peers. \returns how many.
std::uint32_t estimate_collective_sizes(const SystemParams& system, ExecutionGraph& graph);

}  // namespace switchfold
