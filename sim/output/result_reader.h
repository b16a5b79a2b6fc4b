// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/result.h"

#include <filesystem>

namespace switchfold {

/// Reads result.json from the folder of a finished run. Throws ConfigError if it does not exist,
/// has another schema, or lacks a field or has one of the wrong type.
[[nodiscard]] ExperimentResult read_result(const std::filesystem::path& folder);

}  // namespace switchfold
