// SPDX-License-Identifier: Apache-2.0
#include "training/memory/pinning/pinning_plan.h"

#include "core/error.h"
#include "training/memory/pinning/first_fit.h"
#include "training/memory/pinning/mebibytes.h"

#include <fmt/format.h>

namespace switchfold {

namespace {

/// Pinned candidates; empty with the reason in `plan.refusal`.
std::vector<bool> greedy(
    const AccessSchedule& schedule, std::uint64_t capacity, const PinningOptions& options,
    std::string& refusal) {
    const PinProblem problem = pin_problem(schedule, Staging::kDoublePeak);
    const auto order =
        options.seed ? seeded_order(problem, *options.seed) : access_order(schedule, problem);
    const auto pinned = first_fit(problem, capacity, order);
    if (pinned)
        return *pinned;
    refusal = fmt::format(
        "{} for pinned data and staging are less than twice the fullest step; expected {} or more",
        in_mebibytes(capacity),
        in_mebibytes(staging_bytes(problem, std::vector<bool>(problem.size()))));
    return {};
}

std::vector<bool>
by_rule(const AccessSchedule& schedule, const PinProblem& problem, PinPlanner rule) {
    std::vector<bool> pinned(problem.size(), rule != PinPlanner::kOffloadAll);
    if (rule == PinPlanner::kOffloadConv)
        for (std::size_t i = 0; i < problem.size(); ++i)
            pinned[i] = !schedule.items[problem.items[i]].read_by_convolution;
    return pinned;
}

std::vector<bool> choose(
    const AccessSchedule& schedule, const PinProblem& problem, std::uint64_t capacity,
    const PinningOptions& options, PinningPlan& plan) {
    if (options.planner == PinPlanner::kFirstFit)
        return greedy(schedule, capacity, options, plan.refusal);
    if (options.planner != PinPlanner::kOptimal) {
        std::vector<bool> pinned = by_rule(schedule, problem, options.planner);
        const std::uint64_t needed = pinned_bytes(problem, pinned) + staging_bytes(problem, pinned);
        if (needed > capacity)
            plan.refusal = fmt::format(
                "needs {} for pinned data and staging; there are {}", in_mebibytes(needed),
                in_mebibytes(capacity));
        return pinned;
    }
    PinChoice choice = pin_optimally(problem, capacity, options.optimal);
    plan.refusal = choice.refusal;
    plan.certificate = choice.certificate;
    std::string why_not;
    const std::vector<bool> other = greedy(schedule, capacity, options, why_not);
    if (plan.refusal.empty() && why_not.empty() &&
        saved_bytes(problem, other) > saved_bytes(problem, choice.pinned))
        return other;
    return choice.pinned;
}

void sum_up(const AccessSchedule& schedule, PinningPlan& plan) {
    for (std::uint32_t i = 0; i < schedule.items.size(); ++i) {
        const MemoryItem& item = schedule.items[i];
        if (item.candidate() && plan.pinned[i]) {
            plan.pinned_bytes += item.bytes;
        } else if (item.candidate()) {
            plan.bytes_in += item.bytes * item.fetches;
            plan.bytes_out += item.bytes * item.keeps;
        }
    }
    for (const AccessStep& step : schedule.steps) {
        std::uint64_t open = plan.resident_bytes + plan.pinned_bytes;
        for (const ItemAccess& access : step.open)
            open += plan.pinned[access.item] ? 0 : schedule.items[access.item].bytes;
        plan.step_bytes.push_back(open);
    }
}

}  // namespace

std::string_view name_of(PinPlanner planner) {
    for (const auto& [value, name] : kPinPlannerNames)
        if (value == planner)
            return name;
    return {};
}

PinningPlan plan_pinning(const AccessSchedule& schedule, const PinningOptions& options) {
    check(schedule);
    PinningPlan plan;
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
    const PinProblem problem = pin_problem(schedule, options.staging);
    const std::vector<bool> chosen =
        choose(schedule, problem, options.memory - schedule.resident_bytes, options, plan);
    if (!plan.refusal.empty())
        return plan;
    plan.pinned.assign(schedule.items.size(), false);
    for (std::size_t i = 0; i < problem.size(); ++i)
        plan.pinned[problem.items[i]] = chosen[i];
    plan.staging_bytes = staging_bytes(problem, chosen);
    plan.saved_bytes = saved_bytes(problem, chosen);
    plan.saved_at_most =
        options.planner == PinPlanner::kOptimal
            ? plan.certificate.saved_at_most
            : most_saved(problem, options.memory - schedule.resident_bytes, options.optimal);
    sum_up(schedule, plan);
    return plan;
}

std::vector<StepMoves> step_moves(const AccessSchedule& schedule, const std::vector<bool>& pinned) {
    SWITCHFOLD_CHECK(pinned.size() == schedule.items.size(), "a plan of another schedule");
    std::vector<StepMoves> moves(schedule.steps.size());
    for (const Stay& stay : stays_of(schedule)) {
        if (pinned[stay.item])
            continue;
        const bool copied = !schedule.items[stay.item].scratch;
        (copied && stay.fetch ? moves[stay.first].fetch : moves[stay.first].make)
            .push_back(stay.item);
        (copied && stay.keep ? moves[stay.last].keep : moves[stay.last].drop).push_back(stay.item);
    }
    return moves;
}

}  // namespace switchfold
