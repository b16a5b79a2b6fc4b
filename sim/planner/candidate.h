// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/load.h"
#include "sim/config/memory_choice_params.h"
#include "sim/config/plan_params.h"
#include "sim/config/training_params.h"
#include "training/plan/search/lower_bound.h"
#include "training/plan/search/plan_space.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// A plan of the space with its scenario's collective policy.
struct PlanCandidate {
    ParallelPlan plan;
    std::optional<MemoryChoiceParams> memory;
    std::size_t scenario = 0;  ///< index among the experiment's
    bool fold = false;         ///< simulated by folding
    PlanBound bound;
    double memory_bytes = 0;  ///< of the fullest device, by the plan's own accounting
};

/// The space to be searched, and what was excluded before any simulation.
struct CandidateSpace {
    std::uint32_t gpus = 0;
    std::uint64_t combinations = 0;
    std::vector<PlanCandidate> candidates;  ///< those that fit, by ascending bound
    std::map<std::string, EnumeratedPlans::Refused> refused;
    std::uint64_t too_large = 0;  ///< plans that exceed every GPU's memory
    /// The plan that exceeds it by least, by how many bytes, of how many, and on which GPU.
    std::string closest_miss;
    double closest_miss_bytes = 0;
    double closest_miss_needs = 0;
    std::string closest_miss_on;
    std::vector<std::string> notes;
};

/// Told the share of candidates that have a bound, from 0 to 1.
using JudgeProgress = std::function<void(double share)>;

/// The plan's parameters with the workload's other ones.
[[nodiscard]] PlanParams
params_of(const PlanCandidate& candidate, const TrainingWorkloadParams& workload);

/// "data 8, micro-batch 8 x 1, in_switch"
[[nodiscard]] std::string name_of(const PlanCandidate& candidate, const Experiment& experiment);

/// The experiment of a candidate: one scenario, no planner.
[[nodiscard]] LoadedExperiment
experiment_of(const PlanCandidate& candidate, const LoadedExperiment& loaded);

/// Enumerates candidates and computes bounds, in `jobs` processes. Throws ConfigError if the
/// experiment is not a training, for contradictory keys, and for an empty space, with the reasons.
[[nodiscard]] CandidateSpace
candidate_space(const LoadedExperiment& loaded, unsigned jobs, const JudgeProgress& progress = {});

}  // namespace switchfold
