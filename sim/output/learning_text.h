// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/result.h"

#include <string>

namespace switchfold {

/// Learning results, one row per scenario; empty if none has any.
[[nodiscard]] std::string learning_table(const ExperimentResult& result);

}  // namespace switchfold
