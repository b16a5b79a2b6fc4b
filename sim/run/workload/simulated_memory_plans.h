// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/load.h"
#include "workloads/memory/pinning/pinning_plan.h"
#include "workloads/memory/update/update_policy.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace switchfold {

/// Result of a planner's plan in the simulated step, with copies and collectives beside its
/// kernels.
struct SimulatedMemoryPlan {
    PinPlanner planner = PinPlanner::kNone;
    Staging staging = Staging::kWindow;
    std::uint64_t memory = 0;  ///< total bytes
    std::string refusal;       ///< reason why there is no plan; then the rest is empty
    double seconds = 0;        ///< per iteration
    double peak_gib = 0;       ///< of the fullest rank
};

struct SimulatedMemoryOptions {
    std::vector<std::uint64_t> memories;  ///< bytes
    UpdatePolicy updates = UpdatePolicy::kBatch;
    std::uint64_t granule = 64 * 1024;                       ///< of the exact programme, bytes
    std::function<void(const SimulatedMemoryPlan&)> before;  ///< called before each simulation
};

/// Simulates every planner of compare_planners at every size of memory, in the experiment's first
/// scenario with overlap. Throws like run_experiment(), except for plans that do not fit.
[[nodiscard]] std::vector<SimulatedMemoryPlan>
simulate_memory_plans(const LoadedExperiment& loaded, const SimulatedMemoryOptions& options);

}  // namespace switchfold
