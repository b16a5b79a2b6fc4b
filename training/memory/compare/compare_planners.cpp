// SPDX-License-Identifier: Apache-2.0
#include "training/memory/compare/compare_planners.h"

#include "training/memory/compare/largest_batch.h"
#include "training/memory/copies/fastest.h"
#include "training/memory/offload/first_fit.h"

#include <algorithm>

namespace switchfold {

namespace {

std::optional<PinGain> gain(const OffloadPlan& more, const OffloadPlan& less) {
    if (!more.refusal.empty() || !less.refusal.empty())
        return {};
    const auto difference = [](std::uint64_t a, std::uint64_t b) {
        return static_cast<std::int64_t>(a) - static_cast<std::int64_t>(b);
    };
    return PinGain{
        difference(more.retained_bytes, less.retained_bytes),
        difference(more.saved_bytes, less.saved_bytes)};
}

/// GeePS takes candidates from a hash map, so its result depends on their order.
std::optional<OrderSpread> spread_of_orders(const TensorUses& schedule, std::uint64_t memory) {
    if (memory < schedule.resident_bytes)
        return {};
    const OffloadProblem problem = offload_problem(schedule, Staging::kDoublePeak);
    OrderSpread spread;
    for (std::uint64_t seed = 0; seed < kSeededOrders; ++seed) {
        const auto retained =
            first_fit(problem, memory - schedule.resident_bytes, seeded_order(problem, seed));
        if (!retained)
            return {};
        const std::uint64_t bytes = retained_bytes(problem, *retained);
        spread.least = seed == 0 ? bytes : std::min(spread.least, bytes);
        spread.most = std::max(spread.most, bytes);
        spread.mean += static_cast<double>(bytes) / kSeededOrders;
    }
    return spread;
}

OffloadPlan planned(
    const TensorUses& schedule, const ComparedPlanner& one, std::uint64_t memory,
    const CopyRates& rates, const OptimalOptions& optimal) {
    OffloadPlanOptions options;
    options.planner = one.planner;
    options.staging = one.staging;
    options.memory = memory;
    options.optimal = optimal;
    return one.planner == OffloadPlanner::kFastest ? fastest_offload(schedule, options, rates)
                                                   : plan_offload(schedule, options);
}

}  // namespace

bool has_convolutions(const TensorUses& schedule) {
    return std::any_of(schedule.items.begin(), schedule.items.end(), [](const MemoryItem& item) {
        return item.read_by_convolution;
    });
}

ComparedMemory compare_planners(
    const TensorUses& schedule, std::uint64_t memory, const CopyRates& rates,
    const OptimalOptions& optimal) {
    ComparedMemory compared;
    compared.memory = memory;
    const auto find = [&](OffloadPlanner planner, Staging staging) -> const OffloadPlan& {
        return std::find_if(
                   compared.plans.begin(), compared.plans.end(),
                   [&](const ComparedPlan& one) {
                       return one.plan.planner == planner && one.plan.staging == staging;
                   })
            ->plan;
    };
    for (const ComparedPlanner& one : kComparedPlanners) {
        if (one.planner == OffloadPlanner::kOffloadConv && !has_convolutions(schedule))
            continue;
        ComparedPlan plan{planned(schedule, one, memory, rates, optimal), {}, {}};
        if (plan.plan.refusal.empty())
            plan.replay = replay_copies(schedule, plan.plan, memory, rates);
        compared.plans.push_back(std::move(plan));
    }
    const OffloadPlan& exact = find(OffloadPlanner::kOptimal, Staging::kDoublePeak);
    compared.by_programme = gain(exact, find(OffloadPlanner::kFirstFit, Staging::kDoublePeak));
    compared.by_staging = gain(find(OffloadPlanner::kOptimal, Staging::kWindow), exact);
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

std::vector<std::uint64_t> interesting_memories(const TensorUses& schedule, std::size_t many) {
    constexpr std::uint64_t kMiB = 1U << 20U;
    const OffloadProblem problem = offload_problem(schedule, Staging::kWindow);
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
