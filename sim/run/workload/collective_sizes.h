// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/experiment.h"
#include "sim/run/machine/simulate.h"
#include "sim/run/pool/pool.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>

namespace switchfold {

/// Replaces unknown collective sizes by what the machine would move in the measured time. Of the
/// occurrences of a collective over the steps, the shortest is used, because others waited for
/// peers. Collectives that NCCL's cost model knows take their size from it; exchanges are simulated
/// alone within the options' limits, in jobs that `run` runs, until one takes the measured time.
/// \returns the number of sizes replaced. Throws SimulationError.
std::uint32_t estimate_collective_sizes(
    const SystemParams& system,
    ExecutionGraph& graph,
    const SimulateOptions& options,
    const RunJobs& run);

}  // namespace switchfold
