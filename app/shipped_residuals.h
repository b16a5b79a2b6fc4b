// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/results/interval_source.h"

#include <filesystem>

namespace switchfold {

/// Their file, below the folder that holds configs/ and validation/data.
[[nodiscard]] std::filesystem::path residuals_file(const std::filesystem::path& root);

/// The residuals that ship with the program. Throws ConfigError if their file is no such table.
[[nodiscard]] IntervalSource shipped_residuals();

}  // namespace switchfold
