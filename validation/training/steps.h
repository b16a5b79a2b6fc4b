// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"

#include <filesystem>

namespace switchfold::validation {

/// Compares generated steps with measured ones. Adds cases, unmatched rows, verdicts.
void compare_steps(
    const std::filesystem::path& table, const SuiteOptions& options, SuiteResult& result);

}  // namespace switchfold::validation
