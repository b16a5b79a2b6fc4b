// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"
#include "validation/memory/memory_row.h"

#include <vector>

namespace switchfold::validation {

/// Compares the rows with one buffer for all weight gradients (policy delayed) again,
/// with the simulated timeline of a step: peak of the gradients in percent of all. For built-in
/// networks only; rows with shared embeddings if the built-in network shares them.
void compare_simulated_gradients(
    const std::vector<MemoryRow>& rows, const SuiteOptions& options, SuiteResult& result);

}  // namespace switchfold::validation
