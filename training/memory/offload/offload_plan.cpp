// SPDX-License-Identifier: Apache-2.0
#include "training/memory/offload/offload_plan.h"

#include "core/error.h"
#include "training/memory/offload/first_fit.h"
#include "training/memory/offload/mebibytes.h"

#include <fmt/format.h>

namespace switchfold {

namespace {

/// Retained candidates; empty with the reason in `plan.refusal`.
std::vector<bool> greedy(
    const TensorUses& schedule, std::uint64_t capacity, const OffloadPlanOptions& options,
    std::string& refusal) {
    const OffloadProblem problem = offload_problem(schedule, Staging::kDoublePeak);
    const auto order =
        options.seed ? seeded_order(problem, *options.seed) : access_order(schedule, problem);
    const auto retained = first_fit(problem, capacity, order);
    if (retained)
        return *retained;
    refusal = fmt::format(
        "{} for retained data and staging are less than twice the fullest step; expected {} or "
        "more",
        in_mebibytes(capacity),
        in_mebibytes(staging_bytes(problem, std::vector<bool>(problem.size()))));
    return {};
}

std::vector<bool>
by_rule(const TensorUses& schedule, const OffloadProblem& problem, OffloadPlanner rule) {
    std::vector<bool> retained(problem.size(), rule != OffloadPlanner::kOffloadAll);
    if (rule == OffloadPlanner::kOffloadConv)
        for (std::size_t i = 0; i < problem.size(); ++i)
            retained[i] = !schedule.items[problem.items[i]].read_by_convolution;
    return retained;
}

std::vector<bool> choose(
    const TensorUses& schedule, const OffloadProblem& problem, std::uint64_t capacity,
    const OffloadPlanOptions& options, OffloadPlan& plan) {
    if (options.planner == OffloadPlanner::kFirstFit)
        return greedy(schedule, capacity, options, plan.refusal);
    if (options.planner != OffloadPlanner::kOptimal) {
        std::vector<bool> retained = by_rule(schedule, problem, options.planner);
        const std::uint64_t needed =
            retained_bytes(problem, retained) + staging_bytes(problem, retained);
        if (needed > capacity)
            plan.refusal = fmt::format(
                "needs {} for retained data and staging; there are {}", in_mebibytes(needed),
                in_mebibytes(capacity));
        return retained;
    }
    OffloadChoice choice = retain_optimally(problem, capacity, options.optimal);
    plan.refusal = choice.refusal;
    plan.certificate = choice.certificate;
    std::string why_not;
    const std::vector<bool> other = greedy(schedule, capacity, options, why_not);
    if (plan.refusal.empty() && why_not.empty() &&
        saved_bytes(problem, other) > saved_bytes(problem, choice.retained))
        return other;
    return choice.retained;
}

void sum_up(const TensorUses& schedule, OffloadPlan& plan) {
    for (std::uint32_t i = 0; i < schedule.items.size(); ++i) {
        const MemoryItem& item = schedule.items[i];
        if (item.candidate() && plan.retained[i]) {
            plan.retained_bytes += item.bytes;
        } else if (item.candidate()) {
            plan.bytes_in += item.bytes * item.prefetches;
            plan.bytes_out += item.bytes * item.offloads;
        }
    }
    for (const LayerUse& step : schedule.steps) {
        std::uint64_t open = plan.resident_bytes + plan.retained_bytes;
        for (const ItemAccess& access : step.open)
            open += plan.retained[access.item] ? 0 : schedule.items[access.item].bytes;
        plan.step_bytes.push_back(open);
    }
}

}  // namespace

std::string_view name_of(OffloadPlanner planner) {
    for (const auto& [value, name] : kOffloadPlannerNames)
        if (value == planner)
            return name;
    return {};
}

OffloadPlan plan_offload(const TensorUses& schedule, const OffloadPlanOptions& options) {
    check(schedule);
    OffloadPlan plan;
    plan.planner = options.planner;
    plan.staging = options.staging;
    plan.resident_bytes = schedule.resident_bytes;
    plan.candidate_bytes = candidate_bytes(schedule);
    if (options.memory < schedule.resident_bytes) {
        plan.refusal = fmt::format(
            "what always stays takes {}; there are {}", in_mebibytes(schedule.resident_bytes),
            in_mebibytes(options.memory));
        return plan;
    }
    const OffloadProblem problem = offload_problem(schedule, options.staging);
    const std::vector<bool> chosen =
        choose(schedule, problem, options.memory - schedule.resident_bytes, options, plan);
    if (!plan.refusal.empty())
        return plan;
    plan.retained.assign(schedule.items.size(), false);
    for (std::size_t i = 0; i < problem.size(); ++i)
        plan.retained[problem.items[i]] = chosen[i];
    plan.staging_bytes = staging_bytes(problem, chosen);
    plan.saved_bytes = saved_bytes(problem, chosen);
    plan.saved_at_most =
        options.planner == OffloadPlanner::kOptimal
            ? plan.certificate.saved_at_most
            : most_saved(problem, options.memory - schedule.resident_bytes, options.optimal);
    sum_up(schedule, plan);
    return plan;
}

std::vector<StepMoves> step_moves(const TensorUses& schedule, const std::vector<bool>& retained) {
    SWITCHFOLD_CHECK(retained.size() == schedule.items.size(), "a plan of another schedule");
    std::vector<StepMoves> moves(schedule.steps.size());
    for (const Stay& stay : stays_of(schedule)) {
        if (retained[stay.item])
            continue;
        const bool copied = !schedule.items[stay.item].scratch;
        (copied && stay.prefetch ? moves[stay.first].prefetch : moves[stay.first].make)
            .push_back(stay.item);
        (copied && stay.offload ? moves[stay.last].offload : moves[stay.last].drop)
            .push_back(stay.item);
    }
    return moves;
}

}  // namespace switchfold
