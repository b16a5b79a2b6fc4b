// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"

#include <filesystem>

namespace switchfold {

/// The data that sim/output/report/run.js draws for a finished run's folder. Throws ConfigError if
/// a file is missing or invalid.
[[nodiscard]] OrderedJson run_report_data(const std::filesystem::path& folder);

}  // namespace switchfold
