// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/engine.h"
#include "models/memory/memory_system.h"
#include "models/replay/rank_replay.h"
#include "sim/output/result.h"
#include "sim/run/config/experiment.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace switchfold {

/// One simulation's outcome. Everything in it can be sent from one process to another.
struct Outcome {
    std::vector<std::vector<OperationTimes>> times;  ///< [rank][operation]
    std::vector<CollectiveRecord> collectives;
    std::vector<StatisticTable> statistics;
    std::vector<CounterSample> counters;
    std::vector<std::string> notes;
    std::uint64_t end_ps = 0;
    std::uint64_t jumped_ps =
        0;  ///< of it, left out of long collectives: it repeats what was before
    std::uint64_t events = 0;
};

struct SimulateOptions {
    Contention contention;
    bool counters = false;              ///< sample counter tracks for the timeline
    std::uint64_t functional_seed = 0;  ///< 0: collectives carry no numbers
    std::uint64_t fault_seed = 1;       ///< of bit errors
    bool peers_together = false;        ///< no rank is late that was not traced
    LimitParams limits;                 ///< beyond which it is given up
    bool exact = false;                 ///< leave nothing out
    std::function<bool(double share, std::uint64_t events)>
        progress;  ///< share of operations ended
};

/// Runs a graph on a machine. Throws SimulationError if operations stay unfinished, if the run is
/// given up at its limits, or if a functional result is wrong.
[[nodiscard]] Outcome simulate(
    const SystemParams& system,
    const ExecutionGraph& graph,
    const AllReducePolicy& policy,
    const SimulateOptions& options);

/// Replaces unknown collective sizes by what the machine would move in the measured time: the
/// shortest of the occurrences of the same collective over the steps, since the others waited
/// longer for peers. \returns how many.
std::uint32_t estimate_collective_sizes(const SystemParams& system, ExecutionGraph& graph);

}  // namespace switchfold
