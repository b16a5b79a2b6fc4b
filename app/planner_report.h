// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/planner/planner.h"

#include <string>

namespace switchfold {

/// The space searched, the best plan and its runners-up, the proof or what the budget left open,
/// and the plan that would win with free overlap.
[[nodiscard]] std::string planner_text(const LoadedExperiment& loaded, const PlannerResult& result);
/// The same as JSON, in seconds and bytes.
[[nodiscard]] std::string planner_json(const LoadedExperiment& loaded, const PlannerResult& result);

}  // namespace switchfold
