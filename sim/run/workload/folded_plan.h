// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/machine/simulate.h"
#include "workloads/plan/fold/folded_step.h"

namespace switchfold {

/// The step of a folded plan on a machine: simulates its probe in this process, as simulate() does,
/// and gives the pieces the times that they took there.
[[nodiscard]] ExecutionGraph measured_step(
    const FoldedStep& folded,
    const SystemParams& system,
    const CollectivePolicies& policies,
    const SimulateOptions& options);

/// The same with the probe in a process of its own, whose errors are thrown here.
[[nodiscard]] ExecutionGraph measured_step_apart(
    const FoldedStep& folded,
    const SystemParams& system,
    const CollectivePolicies& policies,
    const SimulateOptions& options);

}  // namespace switchfold
