// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/outcome.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// One workload's part of a shared run: its ranks, its collectives, its first steps.
struct ShareOfRun {
    ExecutionGraph graph;
    Outcome
        outcome;  ///< ends with the last of these steps; times are relative to the workload's begin
};

/// End of each step of a graph, over its ranks.
[[nodiscard]] std::vector<Time> ends_of_steps(const ExecutionGraph& part, const Outcome& outcome);

/// The first `steps` steps of a part that began at `begin`.
[[nodiscard]] ShareOfRun
share_of(const ExecutionGraph& part, const Outcome& whole, Time begin, std::uint32_t steps);

}  // namespace switchfold
