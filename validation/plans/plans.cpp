// SPDX-License-Identifier: Apache-2.0
#include "validation/experiments/mapped_suite.h"
#include "validation/harness/suite.h"
#include "validation/plans/regret.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace switchfold::validation {

namespace {

constexpr double kMeanError = 0.10;   ///< of step times
constexpr double kMeanRegret = 0.02;  ///< over the tasks
constexpr double kWrong = 0.30;       ///< share of tasks without the very best plan

/// A plan as the table and the simulation time it.
JudgedPlan judged_plan(const MeasuredExperiment& row, const Case& c) {
    constexpr double kSecond = 1e3;  // in milliseconds
    JudgedPlan plan{row.record["task"], c.measured / kSecond, c.simulated / kSecond, {}};
    const auto count = [&](const char* key) {
        const Json* const value = row.values.find(fmt::format("/workload/plan/{}", key));
        return value == nullptr ? 1 : value->get<std::uint32_t>();
    };
    if (count("data") == row.gpus)
        plan.rule = -static_cast<double>(count("micro_batch"));
    return plan;
}

void judge_plans(const std::vector<JudgedPlan>& plans, SuiteResult& result) {
    std::set<std::string> with_rule;
    for (const JudgedPlan& plan : plans)
        if (plan.rule)
            with_rule.insert(plan.task);
    std::vector<JudgedPlan> without = plans;
    std::erase_if(without, [&](const JudgedPlan& plan) { return with_rule.contains(plan.task); });
    const auto simulated = [](const JudgedPlan& plan) { return std::optional(plan.simulated); };
    const Regret chosen = regret_of(plans, simulated);
    const Regret hard = regret_of(without, simulated);
    const Regret rule = regret_of(plans, [](const JudgedPlan& plan) { return plan.rule; });
    result.verdicts.push_back(
        {fmt::format("regret of the chosen plan, mean of {} tasks", chosen.tasks), chosen.mean,
         kMeanRegret});
    result.verdicts.push_back(
        {fmt::format("not the very best plan, share of {} tasks", chosen.tasks),
         chosen.wrong_share(), kWrong});
    if (hard.tasks > 0) {
        result.verdicts.push_back(
            {fmt::format(
                 "regret over the {} tasks without a pure data-parallel plan, mean", hard.tasks),
             hard.mean, kMeanRegret});
        result.verdicts.push_back(
            {fmt::format(
                 "not the very best plan, share of the {} tasks without a pure data-parallel plan",
                 hard.tasks),
             hard.wrong_share(), kWrong});
    }
    result.notes.push_back(fmt::format(
        "the very best plan in {} of {} tasks, worst regret {:.1f} %; a rule of thumb, data "
        "parallelism with the largest micro-batch: {} of {}, mean regret {:.1f} %",
        chosen.right, chosen.tasks, 100 * chosen.worst, rule.right, rule.tasks, 100 * rule.mean));
    for (const auto& [task, regret] : chosen.by_task)
        if (regret > 0)
            result.notes.push_back(fmt::format("{}: regret {:.1f} %", task, 100 * regret));
}

}  // namespace

SuiteResult run_plans(const SuiteOptions& options) {
    std::vector<MeasuredExperiment> rows;
    SuiteResult result =
        run_mapped(suite_named("plans"), {"validation/maps/plans.json", ""}, options, &rows);
    std::map<std::string, const Case*> case_of;
    for (const Case& c : result.cases)
        case_of[c.id] = &c;
    std::vector<JudgedPlan> plans;
    for (const MeasuredExperiment& row : rows)
        if (const auto found = case_of.find(row.id); found != case_of.end())
            plans.push_back(judged_plan(row, *found->second));
    result.verdicts.push_back(
        {"time of a step: mean absolute error", mape(result.cases), kMeanError});
    judge_plans(plans, result);
    return result;
}

}  // namespace switchfold::validation
