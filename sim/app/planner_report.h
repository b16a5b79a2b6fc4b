// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/planner/planner.h"

#include <string>

namespace switchfold {

/// What was searched, the best plan and its runners-up, the proof or what the budget left open, and
/// which plan would win if overlap were free.
[[nodiscard]] std::string planner_text(const LoadedExperiment& loaded, const PlannerResult& result);
/// The same as JSON, seconds and bytes.
[[nodiscard]] std::string planner_json(const LoadedExperiment& loaded, const PlannerResult& result);

}  // namespace switchfold
