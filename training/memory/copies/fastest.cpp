// SPDX-License-Identifier: Apache-2.0
#include "training/memory/copies/fastest.h"

#include <utility>

namespace switchfold {

PinningPlan fastest_pinning(
    const AccessSchedule& schedule, const PinningOptions& options, const CopyRates& rates) {
    PinningOptions tried = options;
    tried.planner = PinPlanner::kOptimal;
    PinningPlan best = plan_pinning(schedule, tried);
    best.planner = PinPlanner::kFastest;
    if (!best.refusal.empty())
        return best;
    const auto seconds = [&](const PinningPlan& plan) {
        return replay_copies(schedule, plan, options.memory, rates).seconds;
    };
    double least = seconds(best);
    const auto take = [&](PinningPlan plan) {
        if (!plan.refusal.empty())
            return;
        const double taken = seconds(plan);
        if (taken > least || (taken == least && plan.moved_bytes() >= best.moved_bytes()))
            return;
        least = taken;
        plan.planner = PinPlanner::kFastest;
        plan.staging = options.staging;
        plan.saved_at_most = best.saved_at_most;  // in all of the memory
        best = std::move(plan);
    };
    const std::uint64_t ring = best.staging_bytes;
    constexpr std::uint64_t kParts = 4;
    for (std::uint64_t part = 1; part <= kParts; ++part) {
        const std::uint64_t more = ring * part / kParts;
        if (schedule.resident_bytes + ring + more > options.memory)
            break;
        tried.memory = options.memory - more;
        take(plan_pinning(schedule, tried));
    }
    tried.memory = options.memory;
    tried.staging = Staging::kDoublePeak;
    take(plan_pinning(schedule, tried));
    return best;
}

}  // namespace switchfold
