// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"

#include <vector>

namespace switchfold {

// Default scenarios of workloads on GPUs.

/// All-reduces by rings, beside compute.
[[nodiscard]] ScenarioParams by_rings();
/// The same through switches. Training frameworks that use in-switch reduction register their
/// gradient buckets; nccl-tests by default does not.
[[nodiscard]] ScenarioParams in_switches(bool registered);
/// With what the switches of several machines can do; check_scenarios() keeps what the workload's
/// groups can use.
[[nodiscard]] std::vector<ScenarioParams>
with_switches_across(const Experiment& experiment, std::vector<ScenarioParams> scenarios);
/// Of steps that compute, including one without overlap.
[[nodiscard]] std::vector<ScenarioParams> scenarios_of_steps(const Experiment& experiment);

}  // namespace switchfold
