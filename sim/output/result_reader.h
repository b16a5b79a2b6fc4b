// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/result.h"

#include <filesystem>

namespace switchfold {

/// Reads back the result.json of a finished run's folder. Throws ConfigError if there is none, if
/// it is of another schema or if something in it is missing or of the wrong type.
[[nodiscard]] ExperimentResult read_result(const std::filesystem::path& folder);

}  // namespace switchfold
