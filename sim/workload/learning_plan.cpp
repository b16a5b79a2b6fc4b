// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/learning_plan.h"

#include "training/learning/data/check_files.h"
#include "training/learning/replicas/batch_parts.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace switchfold {

namespace {

/// Of a training; each needs some 500 bytes while the order of passes is found.
constexpr std::uint64_t kMostPasses = std::uint64_t{1} << 24U;

/// Why some replica gets no sample; empty if all do.
std::string why_no_part(const LearningParams& learning, std::uint32_t replicas) {
    if (learning.shares.empty())
        return {};
    for (const learning::BatchPart& part :
         learning::parts_of(learning.batch, replicas, learning.shares))
        if (part.count() == 0)
            return fmt::format(
                "leave a replica without a sample of {}; expected a larger batch or less unequal "
                "ones",
                learning.batch);
    return {};
}

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

/// Shares and members require replicas of the whole network.
void check_replicas(
    const LearningParams& learning, const ParallelPlan& plan, const PipelineSchedule& schedule,
    PlanProblems& problems) {
    const bool in_pieces = schedule.asynchronous || plan.pipeline > 1;
    if (!learning.shares.empty() && in_pieces)
        problems.emplace_back(
            "/shares", "are of replicas of a whole network; expected pipeline 1 in the plan");
    else if (!learning.shares.empty() && learning.shares.size() != plan.data)
        problems.emplace_back(
            "/shares", fmt::format(
                           "are {}, and the plan has {} replicas; expected one for each",
                           learning.shares.size(), plan.data));
    else if (const std::string why = why_no_part(learning, plan.data); !why.empty())
        problems.emplace_back("/shares", why);
    for (learning::TaskProblem& problem : learning::problems_of_members(learning.task(), plan.data))
        problems.emplace_back(std::move(problem.pointer), std::move(problem.message));
    if (learning.members.empty())
        return;
    if (in_pieces)
        problems.emplace_back(
            "/members", "are replicas of a whole network; expected pipeline 1 in the plan");
    if (learning.averaging.rule != learning::AveragingRule::kNone)
        problems.emplace_back(
            "/members", "add up the gradients of every step; expected averaging of type none");
}

}  // namespace

std::uint32_t micro_batches_a_step(const TrainingStep& step) {
    const ParallelPlan& plan = step.plan();
    return plan.data *
           (step.schedule().asynchronous ? plan.update_every : step.schedule().micro_batches);
}

std::uint64_t mini_batches_a_turn(const ParallelPlan& plan) {
    return std::uint64_t{rounds_of_replicas(plan)} * plan.update_every;
}

std::uint64_t mini_batches_to_see_the_pace(const ParallelPlan& plan) {
    const std::uint64_t turn = mini_batches_a_turn(plan);
    const std::uint64_t filling = (rounds_to_fill(plan) + turn - 1) / turn * turn;
    return 2 * filling + turn;
}

PlanParams divided_by_shares(PlanParams plan, const LearningParams& learning) {
    const bool divides = plan.division.balanced || !plan.division.samples.empty();
    if (divides || plan.pipeline > 1 || learning.shares.size() != plan.data)
        return plan;
    if (plan.global_batch == 0)
        plan.global_batch = plan.data * plan.micro_batch * std::exchange(plan.accumulate, 1U);
    for (const learning::BatchPart& part :
         learning::parts_of(plan.global_batch, plan.data, learning.shares))
        plan.division.samples.push_back(part.count());
    return plan;
}

PlanProblems why_not_learned(
    const LearningParams& learning, const TrainingStep& step, const std::filesystem::path& folder) {
    PlanProblems problems;
    const ParallelPlan& plan = step.plan();
    for (learning::TaskProblem& problem : learning::problems_of(
             learning.task(), step.schedule().stages(), micro_batches_a_step(step)))
        problems.emplace_back(std::move(problem.pointer), std::move(problem.message));
    const std::uint64_t passes =
        std::uint64_t{learning.steps} * micro_batches_a_step(step) * step.schedule().stages();
    const bool whole_steps = learning.averaging.rule != learning::AveragingRule::kNone ||
                             !learning.members.empty() || !learning.shares.empty();
    if (!whole_steps && passes > kMostPasses)
        problems.emplace_back(
            "/steps",
            fmt::format(
                "are {}, each of {} micro-batches on {} stages: {} forward passes, whose versions "
                "are kept in memory; expected at most {} passes",
                learning.steps, micro_batches_a_step(step), step.schedule().stages(), passes,
                kMostPasses));
    const std::uint64_t least = mini_batches_to_see_the_pace(plan);
    if (step.schedule().asynchronous && plan.mini_batches < least)
        problems.emplace_back(
            "/steps",
            fmt::format(
                "follow the pace of the pipeline, which {} mini-batches do not show; expected "
                "mini_batches of at least {} in the plan",
                plan.mini_batches, least));
    if (learning.averaging.rule != learning::AveragingRule::kNone)
        if (std::string why = why_no_averages(plan, step.schedule()); !why.empty())
            problems.emplace_back("/averaging/type", std::move(why));
    check_replicas(learning, plan, step.schedule(), problems);
    if (problems.empty())
        for (learning::TaskProblem& problem :
             learning::problems_of_files(learning.task(), learning.seed, folder))
            problems.emplace_back(std::move(problem.pointer), std::move(problem.message));
    return problems;
}

}  // namespace switchfold
