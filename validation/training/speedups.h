// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"
#include "validation/machines/machines.h"
#include "validation/training/step_rows.h"

#include <vector>

namespace switchfold::validation {

/// Whether a row states how much faster a plan is than one GPU or than data parallelism, and no
/// time.
[[nodiscard]] bool states_speedup(const StepRow& row);

/// Adds a case for each such row: both plans are simulated on the row's machine, a mini-batch of 32
/// bits a GPU. Stages are those that PipeDream's planner finds for the row's devices a stage.
/// Verdicts: the mean error over one GPU and over data parallelism, and how often our planner finds
/// as many devices a stage as the source's did.
void compare_speedups(
    const std::vector<StepRow>& rows,
    const Machines& machines,
    const SuiteOptions& options,
    SuiteResult& result);

}  // namespace switchfold::validation
