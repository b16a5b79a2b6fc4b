// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/division/step_table.h"
#include "validation/harness/suite.h"

namespace switchfold::validation {

/// Divides 300 images over one GPU of each kind that was measured. Compares the time of even
/// shares, of the best shares, and their ratio with values computed by hand. Greedy and exact
/// division must agree. Fewer than three GPUs are unmatched.
void add_division(const StepTable& table, SuiteResult& result);

}  // namespace switchfold::validation
