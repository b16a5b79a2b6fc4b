// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"

#include <vector>

namespace switchfold {

/// Checks an experiment of which the system has devices instead of GPUs, or the workload runs on
/// such devices: both do, the device exists and has what the workload uses, and nothing of GPUs is
/// given.
void check_many_core(const Experiment& experiment, ParamChecker& checker);

/// Rejects devices of the same name.
void check_devices(const std::vector<DeviceParams>& devices, ParamChecker& checker);

/// Default scenarios: transfers in sequence with compute, and beside it.
[[nodiscard]] std::vector<ScenarioParams> many_core_scenarios();

}  // namespace switchfold
