// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"
#include "validation/memory/memory_row.h"

#include <vector>

namespace switchfold::validation {

/// The rows of one buffer for all gradients of weights ("grad_...", policy delayed) once more, from
/// the simulated timeline of a step: what gradients take at their fullest, in percent of all. Of
/// networks that ship; rows of shared embeddings where ours shares them.
void compare_simulated_gradients(
    const std::vector<MemoryRow>& rows, const SuiteOptions& options, SuiteResult& result);

}  // namespace switchfold::validation
