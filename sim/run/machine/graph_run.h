// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/memory/contention.h"
#include "sim/output/result.h"
#include "sim/run/config/experiment.h"
#include "sim/run/pool/pool.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// When an operation ran, since the start of the run.
struct OperationSpan {
    Time start;
    Time end;
};

/// What a graph did on a machine.
struct GraphRun {
    std::vector<std::vector<OperationSpan>> times;  ///< [rank][operation]
    std::vector<CollectiveResult> collectives;
    std::vector<std::string> notes;
    Time end;
    std::uint64_t events = 0;
};

struct GraphRunOptions {
    Contention contention;
    JobProgress progress;  ///< may be empty
};

/// Runs a graph on a machine in this process, which must not hold another simulation: call it from
/// a job of run_jobs(). Like simulate(), but callers need no SystemC. Throws SimulationError.
[[nodiscard]] GraphRun run_graph(
    const SystemParams& system,
    const ExecutionGraph& graph,
    const AllReducePolicy& policy,
    const GraphRunOptions& options = {});

/// GPUs that a system has.
[[nodiscard]] std::uint32_t gpus_of(const SystemParams& system);
/// Whether its switches can reduce for its first `ranks` GPUs.
[[nodiscard]] bool can_reduce_in_switch(const SystemParams& system, std::uint32_t ranks);

}  // namespace switchfold
