// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/load.h"
#include "sim/pool/pool.h"
#include "training/memory/offload/offload_plan.h"
#include "training/memory/step/step_memory.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// Result of a planner's plan in the simulated step, with copies and collectives beside its
/// kernels.
struct SimulatedMemoryPlan {
    OffloadPlanner planner = OffloadPlanner::kNone;
    Staging staging = Staging::kWindow;
    std::uint64_t memory = 0;  ///< total bytes
    std::string refusal;       ///< reason why there is no plan; then the rest is empty
    double seconds = 0;        ///< per iteration, as a run of the scenario says
    double peak_gib = 0;       ///< of the fullest rank
};

struct SimulatedMemoryOptions {
    std::vector<std::uint64_t> memories;  ///< bytes
    MemoryChoice choice;                  ///< but planner, staging and bytes
    RunJobs run = run_jobs_quietly;       ///< the simulations
};

/// Simulates every planner of compare_planners at every size of memory, in the experiment's first
/// scenario with overlap. Throws like run_experiment(), except for plans that do not fit.
[[nodiscard]] std::vector<SimulatedMemoryPlan>
simulate_memory_plans(const LoadedExperiment& loaded, const SimulatedMemoryOptions& options);

}  // namespace switchfold
