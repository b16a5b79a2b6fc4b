// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/experiment.h"

#include <vector>

namespace switchfold {

/// What an experiment on a many-core coprocessor has that means something only on GPUs.
void check_many_core(const Experiment& experiment, ParamChecker& checker);

/// Without scenarios of its own: transfers one after the other with compute, and beside it.
[[nodiscard]] std::vector<ScenarioParams> many_core_scenarios();

}  // namespace switchfold
