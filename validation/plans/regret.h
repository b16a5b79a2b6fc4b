// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace switchfold::validation {

/// One plan for a task.
struct JudgedPlan {
    std::string task;
    double measured = 0;  ///< seconds
    double simulated = 0;
    std::optional<double> rule;  ///< cost by a rule of thumb; none: the rule excludes the plan
};

/// Quality of the choice of plans.
struct Regret {
    std::size_t tasks = 0;
    std::size_t right = 0;  ///< tasks whose fastest measured plan was chosen
    double mean = 0;  ///< mean of (measured time of the chosen plan / that of the fastest - 1)
    double worst = 0;
    std::map<std::string, double> by_task;
    [[nodiscard]] double wrong_share() const {
        return tasks == 0 ? 0 : 1 - static_cast<double>(right) / static_cast<double>(tasks);
    }
};

/// Chooses the plan of least cost among those of a task that have one; ties go to the first.
[[nodiscard]] Regret regret_of(
    const std::vector<JudgedPlan>& plans,
    const std::function<std::optional<double>(const JudgedPlan&)>& cost);

}  // namespace switchfold::validation
