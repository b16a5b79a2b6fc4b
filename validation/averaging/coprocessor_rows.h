// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/averaging/averaging_row.h"
#include "validation/harness/suite.h"

#include <vector>

namespace switchfold::validation {

/// Whether the row is about a many-core coprocessor or its host.
[[nodiscard]] bool is_of_coprocessor(const AveragingRow& row);

/// Compares peaks and STREAM of the processors in configs/processors, and claimed speed-ups over a
/// socket with those of the shipped sweep.
void compare_coprocessor(
    const std::vector<AveragingRow>& rows, const SuiteOptions& options, SuiteResult& result);

}  // namespace switchfold::validation
