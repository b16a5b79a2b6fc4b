// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"

#include <filesystem>
#include <string_view>

namespace switchfold::validation {

/// Where validation/h200/measure.py's result lies in the repository.
inline constexpr std::string_view kMeasuredContention = "validation/h200/data/contention.json";

/// Backward passes of networks on one H200 beside a kernel that moves memory as a ring all-reduce
/// does: adds a case for each network and setting of the mover, the slowdown of all kernels
/// weighted with their time, and a note on the error of single kernels. A note alone if the file is
/// not there: nothing was measured. Throws ConfigError if it is there and wrong.
void add_measured(
    const std::filesystem::path& file, const SuiteOptions& options, SuiteResult& suite);

}  // namespace switchfold::validation
