// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/planner/candidate.h"
#include "sim/run/sweep/slurm.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace switchfold {

/// How far a search is.
struct PlannerProgress {
    std::uint64_t simulated = 0;  ///< plans, those of earlier searches too
    std::uint64_t open = 0;       ///< plans whose bound is below the best so far
    double best_s = 0;            ///< seconds of a step; 0: none yet
    double bound_s = 0;           ///< the least bound of an open plan
    double elapsed_s = 0;
    double left_s = 0;  ///< at most, if no better plan is found; 0: not known
};

/// When a search ends before it has proved its answer.
struct PlannerBudget {
    std::optional<std::uint64_t> simulations;
    std::optional<double> seconds;
};

struct PlannerOptions {
    unsigned jobs = 1;
    PlannerBudget budget;
    std::optional<std::filesystem::path> out;  ///< folder of results; a search in it goes on
    /// Simulations run as jobs of a cluster, not here; needs a folder. Its `command` is the one
    /// that plans this experiment.
    std::optional<SlurmOptions> slurm;
    std::function<void(const PlannerProgress&)> progress;
    std::function<void(const std::string&)> log;
};

/// A candidate that was simulated.
struct SimulatedPlan {
    std::size_t candidate = 0;
    double seconds = 0;                   ///< of a step
    std::optional<double> alone_seconds;  ///< with overlap for free, where that was simulated
};

/// What a search found.
struct PlannerResult {
    CandidateSpace space;
    std::vector<SimulatedPlan> simulated;  ///< by rising time
    std::uint64_t simulations = 0;         ///< in this search, with those of free overlap
    /// Plans whose simulation failed, with the first error.
    std::uint64_t failed = 0;
    std::string failure;
    /// Plans that may still be faster: their bound is below the best.
    std::uint64_t open = 0;
    double least_bound = 0;  ///< of them; the best's time if there are none
    /// Of `simulated`: which would win if overlap were free; none if the budget ended before.
    std::optional<std::size_t> alone_best;

    [[nodiscard]] bool proved() const { return open == 0; }
    [[nodiscard]] const PlanCandidate& candidate(const SimulatedPlan& plan) const {
        return space.candidates[plan.candidate];
    }
};

/// Searches the space of an experiment best-first: plans are simulated by rising bound until no
/// bound is below the best time. Bounds are of steps without contention, and contention only slows:
/// a plan that was not simulated by then is no faster, and neither would it be with overlap for
/// free than the best is. Each simulation is a process with the experiment's limits. With a folder
/// writes sweep.db, plan.json and plans.csv there. Throws ConfigError, IoError, and SimulationError
/// if every plan fails.
[[nodiscard]] PlannerResult
search_plans(const LoadedExperiment& loaded, const PlannerOptions& options);

/// Simulates those of the candidates that `digests` names and keeps them in the folder, which is
/// needed: a task of a search on a cluster. Throws ConfigError, IoError.
void simulate_plans(
    const LoadedExperiment& loaded,
    const PlannerOptions& options,
    const std::set<std::string>& digests);

}  // namespace switchfold
