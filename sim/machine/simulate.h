// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/fidelity.h"
#include "models/memory/contention.h"
#include "sim/config/experiment.h"
#include "sim/machine/outcome.h"
#include "sim/pool/progress.h"
#include "workloads/graph/jitter.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

class Probe;  // models/probe.h

struct SimulateOptions {
    Contention contention;
    bool counters = false;                ///< sample counter tracks for the timeline
    bool loads = false;                   ///< record how busy links are over time
    std::uint64_t functional_seed = 0;    ///< 0: collectives carry no values
    std::uint64_t fault_seed = 1;         ///< for bit errors
    bool peers_together = false;          ///< no untraced rank is late
    std::uint32_t communication_sms = 0;  ///< per GPU, not available to kernels
    Jitter jitter;                        ///< of folded steps; other graphs have it already
    std::uint64_t jitter_seed = 1;
    LimitParams limits;                   ///< the run is aborted beyond them
    Fidelity fidelity = Fidelity::kAuto;  ///< what may be left out
    JobProgress progress;                 ///< receives the share of operations ended; may be empty
    std::vector<Probe*> probes;           ///< watch it, and must outlive it
    std::string label;                    ///< that probes are told
};

/// Options common to all simulations of an experiment: its limits, and what they may leave out.
[[nodiscard]] SimulateOptions simulate_options(const Experiment& experiment);

/// Whether runs can skip repetitions: bit errors occur at random times and delay their link.
[[nodiscard]] bool repeats_itself(const SystemParams& system);

/// Simulates a graph on a machine in this process, which must not hold another simulation: call it
/// from a job of run_jobs(). Throws SimulationError if operations do not finish, the run exceeds
/// its limits, or a functional result is wrong.
[[nodiscard]] Outcome simulate(
    const SystemParams& system, const ExecutionGraph& graph, const CollectivePolicies& policies,
    const SimulateOptions& options = {});

}  // namespace switchfold
