// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/results/interval_source.h"

#include <filesystem>

namespace switchfold {

/// Where measurements of the very machine that a system's file describes lie: beside it,
/// `my_h100.residuals.csv` of `my_h100.json`, as `switchfold calibrate` writes them.
[[nodiscard]] std::filesystem::path own_residuals_file(std::filesystem::path system);

/// The source with those measurements, if there are some. `system`: its file, empty if the system
/// has none. Throws ConfigError if the table is no good.
[[nodiscard]] IntervalSource
with_own_residuals(const IntervalSource& source, const std::filesystem::path& system);

}  // namespace switchfold
