// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/experiments/measured_experiments.h"
#include "validation/harness/suite.h"

#include <vector>

namespace switchfold::validation {

/// Adds a case for each row that states a plan's speed-up over one GPU or over data parallelism:
/// both plans are simulated on the row's machine, with mini-batches of 32-bit data per GPU.
/// PipeDream's planner finds the stages for the row's devices per stage. Verdicts: how often the
/// order by speed-up is another, and how often the planner here chooses another number of devices
/// per stage than the source's.
void compare_speedups(
    const std::vector<MeasuredExperiment>& rows, const SuiteOptions& options, SuiteResult& result);

}  // namespace switchfold::validation
