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

/// What a planner's plan takes in the simulated step, copies and collectives beside its kernels.
struct SimulatedMemoryPlan {
    PinPlanner planner = PinPlanner::kNone;
    Staging staging = Staging::kWindow;
    std::uint64_t memory = 0;  ///< bytes for everything
    std::string refusal;       ///< why there is none; the rest is empty then
    double seconds = 0;        ///< of an iteration
    double peak_gib = 0;       ///< of the fullest rank's memory
};

struct SimulatedMemoryOptions {
    std::vector<std::uint64_t> memories;  ///< bytes
    UpdatePolicy updates = UpdatePolicy::kBatch;
    std::uint64_t granule = 64 * 1024;                       ///< of the exact programme, bytes
    std::function<void(const SimulatedMemoryPlan&)> before;  ///< told what is simulated next
};

/// Every planner that plans are compared by (compare_planners) in every memory, in the first
/// scenario of the experiment whose collectives run beside kernels. Throws what run_experiment
/// does, but for plans that do not fit.
[[nodiscard]] std::vector<SimulatedMemoryPlan>
simulate_memory_plans(const LoadedExperiment& loaded, const SimulatedMemoryOptions& options);

}  // namespace switchfold
