// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/experiments/measured_experiments.h"
#include "validation/harness/suite.h"

#include <vector>

namespace switchfold::validation {

/// Simulates the rows, equal experiments once, and adds cases, and rows that are left out with
/// their line and reason: it cannot be read, it is refused, no machine can be so fast, or its
/// simulation did not end. Results of earlier runs are taken from what was kept. `problems` gets
/// those of rows that were refused, each once. `lines`: reasons begin with the row's line and name
/// files.
void compare_rows(
    const std::vector<MeasuredExperiment>& rows, const SuiteOptions& options, SuiteResult& result,
    std::vector<Problem>& problems, bool lines = true);

}  // namespace switchfold::validation
