// SPDX-License-Identifier: Apache-2.0
#include "sim/run/workload/learning_plan.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace switchfold {

namespace {

/// Why replicas cannot average weights under a plan; empty if they can.
std::string why_no_averages(const ParallelPlan& plan, const PipelineSchedule& schedule) {
    if (schedule.asynchronous || plan.pipeline > 1)
        return "is for replicas of a whole network, and the plan has a pipeline; expected pipeline "
               "1";
    if (plan.overlap_gradients)
        return "needs to know what a step takes without its exchange; expected "
               "overlap_gradients false in the plan";
    return {};
}

}  // namespace

std::uint32_t micro_batches_a_step(const PlannedStep& step) {
    const ParallelPlan& plan = step.plan();
    return plan.data *
           (step.schedule().asynchronous ? plan.update_every : step.schedule().micro_batches);
}

std::uint32_t mini_batches_a_turn(const ParallelPlan& plan) {
    return rounds_of_replicas(plan) * plan.update_every;
}

std::uint32_t mini_batches_to_see_the_pace(const ParallelPlan& plan) {
    const std::uint32_t turn = mini_batches_a_turn(plan);
    const std::uint32_t filling = (rounds_to_fill(plan) + turn - 1) / turn * turn;
    return 2 * filling + turn;
}

PlanProblems why_not_learned(const LearningParams& learning, const PlannedStep& step) {
    PlanProblems problems;
    const ParallelPlan& plan = step.plan();
    for (learning::TaskProblem& problem : learning::problems_of(
             learning.task(), step.schedule().stages(), micro_batches_a_step(step)))
        problems.emplace_back(std::move(problem.pointer), std::move(problem.message));
    const std::uint32_t least = mini_batches_to_see_the_pace(plan);
    if (step.schedule().asynchronous && plan.mini_batches < least)
        problems.emplace_back(
            "/steps",
            fmt::format(
                "follow the pace of the pipeline, which {} mini-batches do not show; expected "
                "mini_batches of at least {} in the plan",
                plan.mini_batches,
                least));
    if (learning.averaging.rule != learning::AveragingRule::kNone)
        if (std::string why = why_no_averages(plan, step.schedule()); !why.empty())
            problems.emplace_back("/averaging/type", std::move(why));
    return problems;
}

}  // namespace switchfold
