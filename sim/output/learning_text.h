// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "sim/output/result.h"

#include <string>

namespace switchfold {

/// Learning results, one row per scenario; empty if none has any.
[[nodiscard]] std::string learning_table(const ExperimentResult& result);
/// Numbers are rounded to six digits; non-finite ones become null.
[[nodiscard]] OrderedJson learning_json(const LearningResult& learning);

}  // namespace switchfold
