// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/load.h"
#include "workloads/plan/search/lower_bound.h"
#include "workloads/plan/search/plan_space.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// A plan of the space and what its collectives run by.
struct PlanCandidate {
    ParallelPlan plan;
    std::optional<MemoryChoiceParams> memory;
    std::size_t scenario = 0;  ///< of the experiment
    bool fold = false;         ///< simulated so
    PlanBound bound;
    double memory_bytes = 0;  ///< of the fullest device, by the plan's own count
};

/// What is searched, and what was left out of it before anything ran.
struct CandidateSpace {
    std::uint32_t gpus = 0;
    std::uint64_t combinations = 0;
    std::vector<PlanCandidate> candidates;  ///< that fit, by rising bound
    std::map<std::string, EnumeratedPlans::Refused> refused;
    std::uint64_t too_large = 0;  ///< plans that fit in no GPU's memory
    /// The one that misses by least, and by how many bytes.
    std::string closest_miss;
    double closest_miss_bytes = 0;
    std::vector<std::string> notes;
};

/// "data 8, micro-batch 8 x 1, in_switch"
[[nodiscard]] std::string name_of(const PlanCandidate& candidate, const Experiment& experiment);

/// The experiment that a candidate is: one scenario, no planner.
[[nodiscard]] LoadedExperiment
experiment_of(const PlanCandidate& candidate, const LoadedExperiment& loaded);

/// Enumerates and bounds, in `jobs` processes. Throws ConfigError for an experiment that is no
/// training, for keys that contradict it, and for a space that is empty, with what empties it.
[[nodiscard]] CandidateSpace candidate_space(const LoadedExperiment& loaded, unsigned jobs);

}  // namespace switchfold
