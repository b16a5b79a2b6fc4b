// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/json.h"

#include <filesystem>

namespace switchfold {

/// What sim/output/report/run.js draws of a finished run's folder. Throws ConfigError if a file of
/// it is missing or not what a run writes.
[[nodiscard]] OrderedJson run_report_data(const std::filesystem::path& folder);

}  // namespace switchfold
