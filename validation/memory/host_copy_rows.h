// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"
#include "validation/memory/memory_row.h"

namespace switchfold::validation {

/// Adds cases for rows of copies between GPUs and their host, simulated on the corresponding
/// shipped machine: one GPU, all GPUs of a machine, both directions together. \returns the ids
/// answered.
[[nodiscard]] std::vector<std::string> compare_host_copies(
    const std::vector<MemoryRow>& rows, const SuiteOptions& options, SuiteResult& result);

}  // namespace switchfold::validation
