// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"
#include "sim/run/config/experiment.h"
#include "workloads/graph/execution_graph.h"

namespace switchfold {

/// Simulated time that no sound run of a graph takes: ten times what it needs if all that different
/// ranks do happens one after the other, if all data of a collective go over the slowest link, each
/// piece of 8 KiB after the one before has arrived and been read and written at a hundredth of the
/// memory's bandwidth.
[[nodiscard]] Time longest_time(const SystemParams& system, const ExecutionGraph& graph);

}  // namespace switchfold
