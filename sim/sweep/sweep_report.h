// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"

#include <filesystem>

namespace switchfold {

/// The data that sim/output/report/sweep.js draws for a sweep's folder: axes, and one row per point
/// and scenario. `measured` is left empty. Throws ConfigError, IoError.
[[nodiscard]] OrderedJson sweep_report_data(const std::filesystem::path& folder);

}  // namespace switchfold
