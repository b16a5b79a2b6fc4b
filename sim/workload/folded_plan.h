// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/simulate.h"
#include "sim/pool/pool.h"
#include "training/plan/fold/folded_step.h"

namespace switchfold {

/// Folds a plan for a machine. \pre it can be folded.
[[nodiscard]] FoldedStep folded_step(const TrainingStep& step, const SystemParams& system);

/// Whether passes are run with all their blocks: those whose kernels' times are drawn need them.
[[nodiscard]] bool whole_passes(const SimulateOptions& options);

/// The step of a folded plan on a machine: simulates its probes in this process, like simulate(),
/// and sets the times of pieces and collectives accordingly.
[[nodiscard]] ExecutionGraph measured_step(
    const FoldedStep& folded, const SystemParams& system, const CollectivePolicies& policies,
    const SimulateOptions& options);

/// The same with the probes as jobs, whose errors are rethrown here.
[[nodiscard]] ExecutionGraph measured_step_apart(
    const FoldedStep& folded, const SystemParams& system, const CollectivePolicies& policies,
    const SimulateOptions& options, const RunJobs& run);

}  // namespace switchfold
