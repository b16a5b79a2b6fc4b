// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/json.h"
#include "sim/output/result.h"

#include <string>

namespace switchfold {

/// What scenarios learned, a row each; empty if none did.
[[nodiscard]] std::string learning_table(const ExperimentResult& result);
/// Six digits of each number; null for what is none.
[[nodiscard]] OrderedJson learning_json(const LearningResult& learning);

}  // namespace switchfold
