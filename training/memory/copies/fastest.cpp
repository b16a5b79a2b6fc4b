// SPDX-License-Identifier: Apache-2.0
#include "training/memory/copies/fastest.h"

#include <utility>

namespace switchfold {

OffloadPlan
fastest_offload(const TensorUses& schedule, const OffloadPlanOptions& options, const CopyRates& rates) {
    OffloadPlanOptions tried = options;
    tried.planner = OffloadPlanner::kOptimal;
    OffloadPlan best = plan_offload(schedule, tried);
    best.planner = OffloadPlanner::kFastest;
    if (!best.refusal.empty())
        return best;
    const auto seconds = [&](const OffloadPlan& plan) {
        return replay_copies(schedule, plan, options.memory, rates).seconds;
    };
    double least = seconds(best);
    const auto take = [&](OffloadPlan plan) {
        if (!plan.refusal.empty())
            return;
        const double taken = seconds(plan);
        if (taken > least || (taken == least && plan.moved_bytes() >= best.moved_bytes()))
            return;
        least = taken;
        plan.planner = OffloadPlanner::kFastest;
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
        take(plan_offload(schedule, tried));
    }
    tried.memory = options.memory;
    tried.staging = Staging::kDoublePeak;
    take(plan_offload(schedule, tried));
    return best;
}

}  // namespace switchfold
