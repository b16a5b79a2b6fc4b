// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/workload/memory_plans.h"
#include "sim/workload/simulated_memory_plans.h"
#include "training/memory/compare/compare_planners.h"
#include "training/memory/update/update_policy.h"

#include <string>
#include <vector>

namespace switchfold {

/// Memory that an update policy needs for gradients, and the least time of backward pass and
/// updates.
struct ComparedUpdate {
    std::string what;
    UpdateReplay replay;
};
[[nodiscard]] std::vector<ComparedUpdate> compare_updates(const MemoryWorkload& workload);

/// Recomputation of a chain of blocks: memory and cost by a rule or the exact planner.
struct ComparedRecompute {
    std::string what;
    RecomputeCost cost;
};
[[nodiscard]] std::vector<ComparedRecompute> compare_recompute(const MemoryWorkload& workload);

/// All comparisons.
struct MemoryComparison {
    std::vector<ComparedMemory> memories;
    std::vector<ComparedUpdate> updates;
    std::vector<ComparedRecompute> recomputes;
    std::vector<SimulatedMemoryPlan> simulated;  ///< empty: bounds only
};

/// Tables: planners by size of memory, origin of the gain, update policies, recomputation.
[[nodiscard]] std::string
memory_plan_text(const MemoryWorkload& workload, const MemoryComparison& comparison);
/// The same as JSON, in bytes and seconds.
[[nodiscard]] std::string
memory_plan_json(const MemoryWorkload& workload, const MemoryComparison& comparison);

}  // namespace switchfold
