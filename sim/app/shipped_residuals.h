// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/results/interval_source.h"

namespace switchfold {

/// The residuals that ship with the program. Throws ConfigError if their file is no such table.
[[nodiscard]] IntervalSource shipped_residuals();

}  // namespace switchfold
