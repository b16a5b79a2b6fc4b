// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "sim/config/experiment.h"
#include "workloads/graph/execution_graph.h"

namespace switchfold {

/// Upper bound on the simulated time of any sound run of a graph: ten times the time needed if all
/// operations of different ranks run in sequence and all data of a collective cross the slowest
/// link in pieces of 8 KiB, each sent after the previous one has arrived and been read and written
/// at a hundredth of the memory bandwidth.
[[nodiscard]] Time longest_time(const SystemParams& system, const ExecutionGraph& graph);

}  // namespace switchfold
