// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/graph_run.h"
#include "validation/collectives/collective_plan.h"

namespace switchfold::validation {

/// Whether ranks pass a collective's data along a chain. A benchmark's loop runs such collectives
/// into each other: a rank that has passed on its last chunk begins the next one, so the chain
/// fills once and stays full.
[[nodiscard]] bool runs_along_a_chain(CollectiveKind kind);

struct TimedCollective {
    double us = 0;
    CollectiveResult result;  ///< of one alone
};

/// Simulates the planned collective, in this process, and says what nccl-tests would measure: its
/// time alone; along a chain the time of an iteration, in which each rank is busy as long as the
/// first of the chain, which waits for no data, and a share of filling the chain once.
[[nodiscard]] TimedCollective time_planned(
    const PlannedRun& run, const CollectivePolicies& policies, const GraphRunOptions& options);

}  // namespace switchfold::validation
