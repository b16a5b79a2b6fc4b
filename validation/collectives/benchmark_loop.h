// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/machine/graph_run.h"
#include "validation/collectives/collective_plan.h"

namespace switchfold::validation {

/// Whether a benchmark's loop of such collectives runs them into each other: a rank ends its part
/// before others have begun theirs, and goes on to the next one. A chain of ranks then fills once
/// and stays full, so an iteration takes less than one collective alone.
[[nodiscard]] bool overlaps_in_loop(CollectiveKind kind);

struct TimedCollective {
    double us = 0;
    CollectiveResult first;  ///< of the loop
};

/// Simulates the planned collective as nccl-tests measures it, in this process: alone if ranks end
/// together, otherwise per iteration of a loop.
[[nodiscard]] TimedCollective
time_planned(const PlannedRun& run, const CollectivePolicies& policies, GraphRunOptions options);

}  // namespace switchfold::validation
