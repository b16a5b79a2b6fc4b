// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/json.h"

#include <filesystem>

namespace switchfold {

/// What sim/output/report/sweep.js draws of a sweep's folder: axes, and a row a point and scenario.
/// `measured` is left empty. Throws ConfigError, IoError.
[[nodiscard]] OrderedJson sweep_report_data(const std::filesystem::path& folder);

}  // namespace switchfold
