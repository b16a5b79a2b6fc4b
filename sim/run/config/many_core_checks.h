// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/experiment.h"

#include <vector>

namespace switchfold {

/// Rejects settings that apply only to GPUs in an experiment on a many-core coprocessor.
void check_many_core(const Experiment& experiment, ParamChecker& checker);

/// Default scenarios: transfers in sequence with compute, and beside it.
[[nodiscard]] std::vector<ScenarioParams> many_core_scenarios();

}  // namespace switchfold
