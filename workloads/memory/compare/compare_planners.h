// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/memory/access/access_schedule.h"
#include "workloads/memory/copies/copy_replay.h"
#include "workloads/memory/pinning/pinning_plan.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// Who is compared, in this order.
struct ComparedPlanner {
    PinPlanner planner;
    Staging staging;
};
inline constexpr std::array kComparedPlanners{
    ComparedPlanner{PinPlanner::kNone, Staging::kWindow},
    ComparedPlanner{PinPlanner::kOffloadAll, Staging::kWindow},
    ComparedPlanner{PinPlanner::kOffloadConv, Staging::kWindow},
    ComparedPlanner{PinPlanner::kFirstFit, Staging::kDoublePeak},
    ComparedPlanner{PinPlanner::kOptimal, Staging::kDoublePeak},
    ComparedPlanner{PinPlanner::kOptimal, Staging::kWindow},
    ComparedPlanner{PinPlanner::kOptimal, Staging::kSingle}};

/// Whether offload_conv is a rule of its own.
[[nodiscard]] bool has_convolutions(const AccessSchedule& schedule);

/// A planner's plan for one size of memory, and what it takes without contention.
struct ComparedPlan {
    PinningPlan plan;
    std::optional<CopyReplay> replay;  ///< none where there is no plan
};

/// Of one plan over another, bytes.
struct PinGain {
    std::int64_t pinned = 0;
    std::int64_t saved = 0;  ///< of copies: what the exact programme makes most of
};

/// Pinned bytes of GeePS's rule over seeded orders of its candidates.
struct OrderSpread {
    std::uint64_t least = 0;
    double mean = 0;
    std::uint64_t most = 0;
};
inline constexpr std::uint64_t kSeededOrders = 32;

/// Planners beside each other.
struct ComparedMemory {
    std::uint64_t memory = 0;  ///< bytes for everything
    std::vector<ComparedPlan> plans;
    /// What the exact programme adds to GeePS's rule with GeePS's own staging, and what counting
    /// the staging exactly adds to that; none where one of them has no plan.
    std::optional<PinGain> by_programme;
    std::optional<PinGain> by_staging;
    std::optional<OrderSpread> orders;  ///< none where the rule has no plan
};

/// None, both offload rules, GeePS's, and the exact programme with the three stagings.
[[nodiscard]] ComparedMemory compare_planners(
    const AccessSchedule& schedule,
    std::uint64_t memory,
    const CopyRates& rates,
    const OptimalOptions& options = {});

/// `many` sizes from the least that any plan of window staging runs in to the one that needs no
/// plan, ascending, rounded up to MiB.
[[nodiscard]] std::vector<std::uint64_t>
interesting_memories(const AccessSchedule& schedule, std::size_t many);

}  // namespace switchfold
