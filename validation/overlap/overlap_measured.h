// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"

#include <filesystem>
#include <string_view>

namespace switchfold::validation {

/// Path in the repository of the result of validation/h200/measure.py.
inline constexpr std::string_view kMeasuredContention = "validation/h200/data/contention.json";

/// Backward passes of networks on one H200 beside a kernel that moves memory like a ring
/// all-reduce. Adds one case per network and mover setting, the time-weighted slowdown of all
/// kernels, and a note on the error of single kernels. If the file does not exist, adds only a
/// note. Throws ConfigError if it is invalid.
void add_measured(
    const std::filesystem::path& file, const SuiteOptions& options, SuiteResult& suite);

}  // namespace switchfold::validation
