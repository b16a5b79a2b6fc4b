// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/simulate.h"
#include "sim/pool/pool.h"
#include "workloads/graph/loops.h"

namespace switchfold {

/// The loops with counts that take equally long while both run, for each count that is 0: the
/// longer of the two runs ten times, or the other as often as its count says. Simulates a few
/// repetitions on the machine, as jobs whose errors are rethrown here.
[[nodiscard]] Loops with_counts(
    const Loops& loops, const SystemParams& system, const CollectivePolicies& policies,
    const SimulateOptions& options, const RunJobs& run);

}  // namespace switchfold
