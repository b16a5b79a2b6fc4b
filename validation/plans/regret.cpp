// SPDX-License-Identifier: Apache-2.0
#include "validation/plans/regret.h"

#include <algorithm>
#include <functional>

namespace switchfold::validation {

namespace {

using Plans = std::vector<const JudgedPlan*>;

std::map<std::string, Plans> by_task(const std::vector<JudgedPlan>& plans) {
    std::map<std::string, Plans> tasks;
    for (const JudgedPlan& plan : plans)
        tasks[plan.task].push_back(&plan);
    return tasks;
}

/// `choose` returns nothing for a task that does not count.
Regret regret_of(
    const std::vector<JudgedPlan>& plans,
    const std::function<const JudgedPlan*(const Plans&)>& choose) {
    Regret regret;
    for (const auto& [task, all] : by_task(plans)) {
        const JudgedPlan* chosen = choose(all);
        if (chosen == nullptr)
            continue;
        double best = all.front()->measured;
        for (const JudgedPlan* plan : all)
            best = std::min(best, plan->measured);
        const double lost = chosen->measured / best - 1;
        ++regret.tasks;
        regret.right += lost == 0 ? 1 : 0;
        regret.mean += lost;
        regret.worst = std::max(regret.worst, lost);
        regret.by_task[task] = lost;
    }
    if (regret.tasks > 0)
        regret.mean /= static_cast<double>(regret.tasks);
    return regret;
}

}  // namespace

Regret regret_of_simulation(const std::vector<JudgedPlan>& plans) {
    return regret_of(plans, [](const Plans& all) {
        return *std::min_element(
            all.begin(), all.end(),
            [](const JudgedPlan* a, const JudgedPlan* b) { return a->simulated < b->simulated; });
    });
}

Regret regret_of_rule(const std::vector<JudgedPlan>& plans) {
    return regret_of(plans, [](const Plans& all) {
        const JudgedPlan* most = nullptr;
        for (const JudgedPlan* plan : all)
            if (plan->rule && (most == nullptr || *plan->rule > *most->rule))
                most = plan;
        return most;
    });
}

}  // namespace switchfold::validation
