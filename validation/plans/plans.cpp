// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/system_queries.h"
#include "training/plan/fold/folded_step.h"
#include "training/plan/search/plan_space.h"
#include "validation/harness/data.h"
#include "validation/harness/number_jobs.h"
#include "validation/harness/suite.h"
#include "validation/machines/machines.h"
#include "validation/plans/plan_rows.h"
#include "validation/plans/regret.h"
#include "validation/training/planned_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace switchfold::validation {

namespace {

constexpr double kMeanError = 0.10;   ///< of step times
constexpr double kMeanRegret = 0.02;  ///< over the tasks
constexpr double kWrong = 0.30;       ///< share of tasks without the very best plan

/// A row with a step that can be simulated.
struct ComparedPlan {
    const PlanRow* row = nullptr;
    PlannedStepRow planned;
    bool fold = false;
};

std::vector<ComparedPlan>
comparable(const std::vector<PlanRow>& rows, const Machines& machines, SuiteResult& result) {
    std::vector<ComparedPlan> all;
    for (const PlanRow& row : rows) {
        std::string why = row.step.why;
        if (why.empty() && row.step.seconds == 0)
            why = "it states no time of a step";
        if (why.empty()) {
            const MachineMatch match = machine_of(row.step, machines);
            why = match.why;
            if (why.empty()) {
                ComparedPlan compared{&row, planned_row(row.step, match.machine->system)};
                // Folding makes a step of many micro-batches as fast to simulate as one of few.
                compared.fold =
                    folds_by_passes(*compared.planned.step) &&
                    why_not_folded(
                        *compared.planned.step, gpus_of_machine(*compared.planned.system))
                        .empty();
                all.push_back(std::move(compared));
            }
        }
        if (!why.empty())
            result.unmatched.push_back({row.step.id, why});
    }
    return all;
}

Case plan_case(const ComparedPlan& compared, double seconds) {
    const StepRow& row = compared.row->step;
    Case c;
    c.id = row.id;
    c.group = fmt::format("{} GPUs, {}", row.gpus, row.gpu);
    c.quantity = "time of a step";
    c.unit = "ms";
    c.measured = row.seconds * 1e3;
    c.simulated = seconds * 1e3;
    c.like = step_likeness(row, *compared.planned.system);
    c.machine = compared.planned.system->name;
    c.how = fmt::format(
        "{} on {}{}", name_of(row.plan), compared.planned.system->name,
        compared.fold ? ", folded" : "");
    return c;
}

void judge_plans(const std::vector<JudgedPlan>& plans, SuiteResult& result) {
    std::set<std::string> with_rule;
    for (const JudgedPlan& plan : plans)
        if (plan.rule)
            with_rule.insert(plan.task);
    std::vector<JudgedPlan> without = plans;
    std::erase_if(without, [&](const JudgedPlan& plan) { return with_rule.contains(plan.task); });
    const Regret chosen = regret_of_simulation(plans);
    const Regret hard = regret_of_simulation(without);
    const Regret rule = regret_of_rule(plans);
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
    const Suite& suite = suite_named("plans");
    const auto data = data_of(suite, options);
    if (!data)
        return skipped(suite);
    SuiteResult result;
    result.name = suite.name;
    const std::vector<PlanRow> rows = read_plan_rows(*data, options.root);
    const Machines machines(options.root);
    const std::vector<ComparedPlan> all = comparable(rows, machines, result);
    std::vector<NumberJob> jobs;
    for (const ComparedPlan& compared : all)
        jobs.push_back(
            {compared.row->step.id,
             [&compared](const JobProgress& progress) {
                 return simulated_seconds(compared.planned, compared.fold, progress);
             },
             work_of(compared.planned)});
    const std::vector<double> seconds = run_number_jobs(jobs, options);
    std::vector<JudgedPlan> plans;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const PlanRow& row = *all[i].row;
        result.cases.push_back(plan_case(all[i], seconds[i]));
        JudgedPlan plan{row.task, row.step.seconds, seconds[i], {}};
        if (is_pure_data_parallel(row.step))
            plan.rule = row.step.plan.micro_batch;
        plans.push_back(std::move(plan));
    }
    result.verdicts.push_back(
        {"time of a step: mean absolute error", mape(result.cases), kMeanError});
    judge_plans(plans, result);
    return result;
}

}  // namespace switchfold::validation
