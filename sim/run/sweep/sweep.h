// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/sweep/database.h"
#include "sim/run/sweep/plan.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// How far a sweep is.
struct SweepProgress {
    std::uint64_t runs = 0;  ///< to be done this time; points of one digest are one
    double ended = 0;        ///< of them, with the parts of those under way
    std::uint64_t failed = 0;
    double elapsed_s = 0;
};

struct SweepOptions {
    std::filesystem::path out;
    unsigned jobs = 1;
    std::uint64_t worker_bytes = 0;  ///< memory of a worker; 0: its part of the machine's
    std::optional<std::set<std::string>> only;  ///< digests to run; none: all
    std::function<void(const SweepProgress&)> progress;
    std::function<void(const std::string&)> log;
};

struct SweepSummary {
    SweepCount count;
    std::uint64_t ran = 0;                                      ///< experiments that ran this time
    std::uint64_t kept = 0;                                     ///< that were there from before
    std::vector<std::pair<std::string, std::string>> failures;  ///< the first: point, error
};

/// The experiments that are still to be run, one of each digest, in the order of the points.
[[nodiscard]] std::vector<const SweepPoint*> missing_points(
    const SweepPlan& plan, const std::set<std::string>& done, const SweepOptions& options);

/// Runs what is missing in worker processes, and writes sweep.db and results.csv. An experiment
/// that fails is kept with its error. Throws ConfigError, IoError; what has ended is kept.
[[nodiscard]] SweepSummary run_sweep(const SweepPlan& plan, const SweepOptions& options);

/// What is to be said once all have run; writes results.csv.
[[nodiscard]] SweepSummary
summarise(SweepDatabase& database, const SweepOptions& options, std::uint64_t ran);

}  // namespace switchfold
