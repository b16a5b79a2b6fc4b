// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/memory/contention.h"
#include "sim/run/config/experiment.h"
#include "sim/run/machine/outcome.h"
#include "sim/run/pool/progress.h"

#include <cstdint>

namespace switchfold {

struct SimulateOptions {
    Contention contention;
    bool counters = false;                ///< sample counter tracks for the timeline
    std::uint64_t functional_seed = 0;    ///< 0: collectives carry no numbers
    std::uint64_t fault_seed = 1;         ///< of bit errors
    bool peers_together = false;          ///< no rank is late that was not traced
    std::uint32_t communication_sms = 0;  ///< of each GPU, which kernels may not use
    LimitParams limits;                   ///< beyond which it is given up
    bool exact = false;                   ///< leave nothing out
    JobProgress progress;                 ///< told the share of operations ended; may be empty
};

/// Runs a graph on a machine in this process, which must not hold another simulation: call it from
/// a job of run_jobs(). Throws SimulationError if operations stay unfinished, if the run is given
/// up at its limits, or if a functional result is wrong.
[[nodiscard]] Outcome simulate(
    const SystemParams& system,
    const ExecutionGraph& graph,
    const CollectivePolicies& policies,
    const SimulateOptions& options = {});

}  // namespace switchfold
