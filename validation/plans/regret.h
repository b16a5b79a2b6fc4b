// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace switchfold::validation {

/// One way to do a task.
struct JudgedPlan {
    std::string task;
    double measured = 0;  ///< seconds
    double simulated = 0;
    std::optional<double> rule;  ///< what a rule of thumb takes most of; none: it takes others
};

/// How well plans were chosen.
struct Regret {
    std::size_t tasks = 0;
    std::size_t right = 0;  ///< tasks whose fastest measured plan was chosen
    double mean = 0;        ///< of measured time of the chosen plan / that of the fastest - 1
    double worst = 0;
    std::map<std::string, double> by_task;
    [[nodiscard]] double wrong_share() const {
        return tasks == 0 ? 0 : 1 - static_cast<double>(right) / static_cast<double>(tasks);
    }
};

/// Of the plans that take least simulated time; the first of equal ones.
[[nodiscard]] Regret regret_of_simulation(const std::vector<JudgedPlan>& plans);
/// Of the plans of which the rule takes most, over the tasks that have such a plan.
[[nodiscard]] Regret regret_of_rule(const std::vector<JudgedPlan>& plans);

}  // namespace switchfold::validation
