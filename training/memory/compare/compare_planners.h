// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/access/tensor_uses.h"
#include "training/memory/copies/copy_replay.h"
#include "training/memory/offload/offload_plan.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace switchfold {

/// Compared planners, in this order.
struct ComparedPlanner {
    OffloadPlanner planner;
    Staging staging;
};
inline constexpr std::array kComparedPlanners{
    ComparedPlanner{OffloadPlanner::kNone, Staging::kWindow},
    ComparedPlanner{OffloadPlanner::kOffloadAll, Staging::kWindow},
    ComparedPlanner{OffloadPlanner::kOffloadConv, Staging::kWindow},
    ComparedPlanner{OffloadPlanner::kFirstFit, Staging::kDoublePeak},
    ComparedPlanner{OffloadPlanner::kOptimal, Staging::kDoublePeak},
    ComparedPlanner{OffloadPlanner::kOptimal, Staging::kWindow},
    ComparedPlanner{OffloadPlanner::kOptimal, Staging::kSingle},
    ComparedPlanner{OffloadPlanner::kFastest, Staging::kWindow}};

/// Whether offload_conv differs from offload_all.
[[nodiscard]] bool has_convolutions(const TensorUses& schedule);

/// A planner's plan for one size of memory, and its time without contention.
struct ComparedPlan {
    OffloadPlan plan;
    std::optional<CopyReplay> replay;            ///< none without a plan
    std::optional<std::uint32_t> largest_batch;  ///< that fits, without a plan; 0: none does
};

/// Difference between two plans, bytes.
struct PinGain {
    std::int64_t retained = 0;
    std::int64_t saved = 0;  ///< saved copies, which the exact programme maximises
};

/// Retained bytes of GeePS's rule over seeded orders of its candidates.
struct OrderSpread {
    std::uint64_t least = 0;
    double mean = 0;
    std::uint64_t most = 0;
};
inline constexpr std::uint64_t kSeededOrders = 32;

/// Results of all planners.
struct ComparedMemory {
    std::uint64_t memory = 0;  ///< total bytes
    std::vector<ComparedPlan> plans;
    /// Gain of the exact programme over GeePS's rule with GeePS's own staging, and additional gain
    /// of exact staging; none if one of them has no plan.
    std::optional<PinGain> by_programme;
    std::optional<PinGain> by_staging;
    std::optional<OrderSpread> orders;  ///< none if the rule has no plan
};

/// The schedule with another batch.
using ScheduleOfBatch = std::function<TensorUses(std::uint32_t batch)>;

/// Finds the largest batch, up to `batch`, that fits each planner that has no plan.
void find_largest_batches(
    ComparedMemory& compared, const ScheduleOfBatch& schedule_of, std::uint32_t batch,
    const CopyRates& rates, const OptimalOptions& optimal = {});

/// Compares none, both offload rules, GeePS's, the exact programme with the three kinds of staging,
/// and the fastest of its plans.
[[nodiscard]] ComparedMemory compare_planners(
    const TensorUses& schedule, std::uint64_t memory, const CopyRates& rates,
    const OptimalOptions& options = {});

/// `many` sizes, ascending and rounded up to MiB, from the least memory of any plan with window
/// staging to the memory that needs no plan.
[[nodiscard]] std::vector<std::uint64_t>
interesting_memories(const TensorUses& schedule, std::size_t many);

}  // namespace switchfold
