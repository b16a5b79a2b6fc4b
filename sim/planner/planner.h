// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/figure_interval.h"
#include "sim/planner/candidate.h"
#include "sim/results/interval_source.h"
#include "sim/sweep/slurm.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace switchfold {

/// Progress of a search.
struct PlannerProgress {
    double judged = 1;            ///< share of candidates that have a bound, from 0 to 1
    std::uint64_t simulated = 0;  ///< plans, including those of earlier searches
    std::uint64_t open = 0;       ///< plans with a bound below the best so far
    double best_s = 0;            ///< of the best step; 0: none yet
    double bound_s = 0;           ///< least bound of an open plan
    double elapsed_s = 0;
    double left_s =
        0;  ///< upper bound on the remaining time unless a better plan is found; 0: unknown
};

/// Limits after which a search ends without proof.
struct PlannerBudget {
    std::optional<std::uint64_t> simulations;
    std::optional<double> seconds;
};

struct PlannerOptions {
    unsigned jobs = 1;
    PlannerBudget budget;
    std::optional<std::filesystem::path> out;  ///< folder for results; a search in it resumes
    /// Runs simulations as cluster jobs instead of locally; requires a folder. Its `command` must
    /// plan the same experiment.
    std::optional<SlurmOptions> slurm;
    IntervalSource intervals;
    std::function<void(const PlannerProgress&)> progress;
    std::function<void(const std::string&)> log;
};

/// A simulated candidate.
struct SimulatedPlan {
    std::size_t candidate = 0;
    double seconds = 0;                   ///< per step
    std::optional<double> alone_seconds;  ///< with free overlap, if simulated
};

/// Result of a search.
struct PlannerResult {
    CandidateSpace space;
    std::vector<SimulatedPlan> simulated;  ///< by ascending time
    std::uint64_t simulations = 0;  ///< run by this search, including those with free overlap
    /// Plans whose simulation failed, with the first error.
    std::uint64_t failed = 0;
    std::string failure;
    /// Plans that may still be faster: their bound is below the best time.
    std::uint64_t open = 0;
    double least_bound = 0;  ///< of open plans; the best time if there are none
    /// Times a plan's step between which 90 % of measured ones lie: all plans are steps of as many
    /// GPUs. None if residuals did not ship.
    std::optional<FigureInterval> step_error;
    /// The same of the ratio of two plans' steps, of which the machine's errors cancel.
    std::optional<FigureInterval> ratio_error;
    /// Index in `simulated` of the plan that would win with free overlap; none if the budget ended
    /// first.
    std::optional<std::size_t> alone_best;

    [[nodiscard]] bool proved() const { return open == 0; }
    [[nodiscard]] const PlanCandidate& candidate(const SimulatedPlan& plan) const {
        return space.candidates[plan.candidate];
    }
};

/// Searches an experiment's space best-first: plans are simulated by ascending bound until no bound
/// is below the best time. Bounds hold without contention, which only slows a step down; so plans
/// not simulated cannot be faster, with contention or with free overlap. Each simulation is a
/// process with the experiment's limits. With a folder, writes sweep.db, plan.json and plans.csv
/// there. Throws ConfigError, IoError, and SimulationError if every plan fails.
[[nodiscard]] PlannerResult
search_plans(const LoadedExperiment& loaded, const PlannerOptions& options);

/// Simulates the candidates named by `digests` and stores them in the folder, which is required: a
/// task of a search on a cluster. Throws ConfigError, IoError.
void simulate_plans(
    const LoadedExperiment& loaded, const PlannerOptions& options,
    const std::set<std::string>& digests);

}  // namespace switchfold
