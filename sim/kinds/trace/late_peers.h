// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/simulate.h"
#include "sim/pool/pool.h"
#include "workloads/graph/late_peers.h"

namespace switchfold {

/// Calls set_peers_late() with this machine's transfer times: each kind and size is simulated once
/// alone, with the trace's blocks and protocol, within the options' limits, in a job that `run`
/// runs. \pre sizes are known or estimated. Throws SimulationError.
LatePeers derive_late_peers(
    const SystemParams& system, ExecutionGraph& graph, const SimulateOptions& options,
    const RunJobs& run);

}  // namespace switchfold
