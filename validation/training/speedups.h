// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"
#include "validation/machines/machines.h"
#include "validation/training/step_rows.h"

#include <vector>

namespace switchfold::validation {

/// Whether a row states a plan's speed-up over one GPU or over data parallelism, and no time.
[[nodiscard]] bool states_speedup(const StepRow& row);

/// Adds a case for each such row: both plans are simulated on the row's machine, with mini-batches
/// of 32-bit data per GPU. PipeDream's planner finds the stages for the row's devices per stage.
/// Verdicts: the mean error of speed-ups over one GPU and over data parallelism, and how often the
/// planner here chooses the same number of devices per stage as the source's.
void compare_speedups(
    const std::vector<StepRow>& rows, const Machines& machines, const SuiteOptions& options,
    SuiteResult& result);

}  // namespace switchfold::validation
