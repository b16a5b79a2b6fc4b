// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/machine/outcome.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// One workload's part of a run that several shared: its ranks, its collectives, the steps that
/// count.
struct ShareOfRun {
    ExecutionGraph graph;
    Outcome outcome;  ///< ends with the last of the steps that count, and counts from the begin
    std::uint32_t steps = 0;  ///< that count
    bool crowded = true;      ///< while they ran all others did
};

/// When each step of a graph ended, over its ranks.
[[nodiscard]] std::vector<Time> ends_of_steps(const ExecutionGraph& part, const Outcome& outcome);

/// The part's share. Steps count that ended before `others_end`, of which at least one; `begin` is
/// when the workload began.
[[nodiscard]] ShareOfRun
share_of(const ExecutionGraph& part, const Outcome& whole, Time begin, Time others_end);

}  // namespace switchfold
