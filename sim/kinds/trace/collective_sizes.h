// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"
#include "sim/machine/simulate.h"
#include "sim/pool/pool.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>

namespace switchfold {

/// Number of collectives whose size no trace states.
struct UnknownSizes {
    std::uint32_t estimated = 0;  ///< by their time
    std::uint32_t given = 0;      ///< of which no size takes the time: they take it without traffic
};

/// Replaces unknown collective sizes by what the machine moves in the measured time, by rings. Of
/// the occurrences of a collective over the steps, the shortest is used, because others waited for
/// peers. Sizes are simulated alone within the options' limits, in jobs that `run` runs, until one
/// takes that time within 1 %. Where none does, the collective is given the time, and its blocks
/// wait for the other ranks. Throws SimulationError.
UnknownSizes estimate_collective_sizes(
    const SystemParams& system, ExecutionGraph& graph, const SimulateOptions& options,
    const RunJobs& run);

}  // namespace switchfold
