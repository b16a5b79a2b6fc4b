// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/averaging/averaging_row.h"
#include "validation/harness/suite.h"

#include <vector>

namespace switchfold::validation {

/// Whether the row is about a network divided by layers.
[[nodiscard]] bool is_of_compound(const AveragingRow& row);

/// Compares a claimed speed-up of a division over one GPU with the fastest division of the shipped
/// experiment.
void compare_compound(
    const std::vector<AveragingRow>& rows, const SuiteOptions& options, SuiteResult& result);

}  // namespace switchfold::validation
