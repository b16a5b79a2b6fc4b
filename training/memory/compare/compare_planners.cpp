// SPDX-License-Identifier: Apache-2.0
#include "training/memory/compare/compare_planners.h"

#include "training/memory/compare/largest_batch.h"
#include "training/memory/copies/fastest.h"
#include "training/memory/pinning/first_fit.h"

#include <algorithm>

namespace switchfold {

namespace {

std::optional<PinGain> gain(const PinningPlan& more, const PinningPlan& less) {
    if (!more.refusal.empty() || !less.refusal.empty())
        return {};
    const auto difference = [](std::uint64_t a, std::uint64_t b) {
        return static_cast<std::int64_t>(a) - static_cast<std::int64_t>(b);
    };
    return PinGain{
        difference(more.pinned_bytes, less.pinned_bytes),
        difference(more.saved_bytes, less.saved_bytes)};
}

/// GeePS takes candidates from a hash map, so its result depends on their order.
std::optional<OrderSpread> spread_of_orders(const AccessSchedule& schedule, std::uint64_t memory) {
    if (memory < schedule.resident_bytes)
        return {};
    const PinProblem problem = pin_problem(schedule, Staging::kDoublePeak);
    OrderSpread spread;
    for (std::uint64_t seed = 0; seed < kSeededOrders; ++seed) {
        const auto pinned =
            first_fit(problem, memory - schedule.resident_bytes, seeded_order(problem, seed));
        if (!pinned)
            return {};
        const std::uint64_t bytes = pinned_bytes(problem, *pinned);
        spread.least = seed == 0 ? bytes : std::min(spread.least, bytes);
        spread.most = std::max(spread.most, bytes);
        spread.mean += static_cast<double>(bytes) / kSeededOrders;
    }
    return spread;
}

PinningPlan planned(
    const AccessSchedule& schedule, const ComparedPlanner& one, std::uint64_t memory,
    const CopyRates& rates, const OptimalOptions& optimal) {
    PinningOptions options;
    options.planner = one.planner;
    options.staging = one.staging;
    options.memory = memory;
    options.optimal = optimal;
    return one.planner == PinPlanner::kFastest ? fastest_pinning(schedule, options, rates)
                                               : plan_pinning(schedule, options);
}

}  // namespace

bool has_convolutions(const AccessSchedule& schedule) {
    return std::any_of(schedule.items.begin(), schedule.items.end(), [](const MemoryItem& item) {
        return item.read_by_convolution;
    });
}

ComparedMemory compare_planners(
    const AccessSchedule& schedule, std::uint64_t memory, const CopyRates& rates,
    const OptimalOptions& optimal) {
    ComparedMemory compared;
    compared.memory = memory;
    const auto find = [&](PinPlanner planner, Staging staging) -> const PinningPlan& {
        return std::find_if(
                   compared.plans.begin(), compared.plans.end(),
                   [&](const ComparedPlan& one) {
                       return one.plan.planner == planner && one.plan.staging == staging;
                   })
            ->plan;
    };
    for (const ComparedPlanner& one : kComparedPlanners) {
        if (one.planner == PinPlanner::kOffloadConv && !has_convolutions(schedule))
            continue;
        ComparedPlan plan{planned(schedule, one, memory, rates, optimal), {}, {}};
        if (plan.plan.refusal.empty())
            plan.replay = replay_copies(schedule, plan.plan, memory, rates);
        compared.plans.push_back(std::move(plan));
    }
    const PinningPlan& exact = find(PinPlanner::kOptimal, Staging::kDoublePeak);
    compared.by_programme = gain(exact, find(PinPlanner::kFirstFit, Staging::kDoublePeak));
    compared.by_staging = gain(find(PinPlanner::kOptimal, Staging::kWindow), exact);
    compared.orders = spread_of_orders(schedule, memory);
    return compared;
}

void find_largest_batches(
    ComparedMemory& compared, const ScheduleOfBatch& schedule_of, std::uint32_t batch,
    const CopyRates& rates, const OptimalOptions& optimal) {
    for (ComparedPlan& plan : compared.plans) {
        if (plan.plan.refusal.empty())
            continue;
        const ComparedPlanner planner{plan.plan.planner, plan.plan.staging};
        plan.largest_batch = largest_batch(batch, [&](std::uint32_t smaller) {
            return planned(schedule_of(smaller), planner, compared.memory, rates, optimal)
                .refusal.empty();
        });
    }
}

std::vector<std::uint64_t> interesting_memories(const AccessSchedule& schedule, std::size_t many) {
    constexpr std::uint64_t kMiB = 1U << 20U;
    const PinProblem problem = pin_problem(schedule, Staging::kWindow);
    const LeastCapacity least = least_capacity(problem);
    const std::uint64_t lowest =
        schedule.resident_bytes + (least.refusal.empty()
                                       ? least.bytes
                                       : staging_bytes(problem, std::vector<bool>(problem.size())));
    const std::uint64_t highest = schedule.resident_bytes + problem.total() +
                                  staging_bytes(problem, std::vector<bool>(problem.size(), true));
    std::vector<std::uint64_t> sizes;
    for (std::size_t i = 0; i < many; ++i) {
        // Rounding to granules costs a little at the lower end.
        const double share =
            many == 1 ? 1.0 : static_cast<double>(i) / static_cast<double>(many - 1);
        const auto size =
            lowest + static_cast<std::uint64_t>(share * static_cast<double>(highest - lowest));
        sizes.push_back((size + size / 200 + kMiB - 1) / kMiB * kMiB);
    }
    return sizes;
}

}  // namespace switchfold
