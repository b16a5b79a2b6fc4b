// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/averaging/averaging_row.h"
#include "validation/harness/suite.h"

#include <vector>

namespace switchfold::validation {

/// Whether the row is the time of a parameter exchange over PCIe.
[[nodiscard]] bool is_of_exchange(const AveragingRow& row);

/// Simulates exchanges on a machine of configs/systems, whose only link rate comes from the row
/// with two GPUs.
void compare_exchange(
    const std::vector<AveragingRow>& rows, const SuiteOptions& options, SuiteResult& result);

}  // namespace switchfold::validation
