// SPDX-License-Identifier: Apache-2.0
#include "validation/plans/regret.h"

#include <algorithm>

namespace switchfold::validation {

Regret regret_of(
    const std::vector<JudgedPlan>& plans,
    const std::function<std::optional<double>(const JudgedPlan&)>& cost) {
    struct Task {
        double best = 0;
        const JudgedPlan* chosen = nullptr;
    };
    std::map<std::string, Task> tasks;
    for (const JudgedPlan& plan : plans) {
        const auto [at, fresh] = tasks.try_emplace(plan.task, Task{plan.measured});
        Task& task = at->second;
        task.best = std::min(task.best, plan.measured);
        if (cost(plan) && (task.chosen == nullptr || *cost(plan) < *cost(*task.chosen)))
            task.chosen = &plan;
    }
    Regret regret;
    for (const auto& [name, task] : tasks) {
        if (task.chosen == nullptr)
            continue;
        const double lost = task.chosen->measured / task.best - 1;
        ++regret.tasks;
        regret.right += lost == 0 ? 1 : 0;
        regret.mean += lost;
        regret.worst = std::max(regret.worst, lost);
        regret.by_task[name] = lost;
    }
    if (regret.tasks > 0)
        regret.mean /= static_cast<double>(regret.tasks);
    return regret;
}

}  // namespace switchfold::validation
