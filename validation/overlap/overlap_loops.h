// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"

namespace switchfold::validation {

/// Loops of products beside loops of collectives (hopper_contention.csv), as
/// validation/maps/overlap_loops.json makes experiments of them. Adds a case for each published
/// slowdown and makespan: the loops' time together over their time alone, and the whole over
/// sequential execution. Rows with insufficient data are unmatched, with the reason.
void add_loops(const SuiteOptions& options, SuiteResult& suite);

}  // namespace switchfold::validation
