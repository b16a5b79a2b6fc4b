// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/results/interval_source.h"
#include "sim/sweep/database.h"
#include "sim/sweep/plan.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// Progress of a sweep.
struct SweepProgress {
    std::uint64_t runs = 0;  ///< to do in this run; points with equal digests count once
    double ended = 0;        ///< completed runs, plus the shares of running ones
    std::uint64_t failed = 0;
    double elapsed_s = 0;
};

struct SweepOptions {
    std::filesystem::path out;
    unsigned jobs = 1;
    std::uint64_t worker_bytes = 0;  ///< memory limit per worker; 0: an equal part of the machine's
    std::optional<std::set<std::string>> only;  ///< digests to run; none: all
    IntervalSource intervals;
    std::function<void(const SweepProgress&)> progress;
    std::function<void(const std::string&)> log;
};

struct SweepSummary {
    SweepCount count;
    std::uint64_t ran = 0;                                      ///< experiments run this time
    std::uint64_t kept = 0;                                     ///< results from earlier runs
    std::vector<std::pair<std::string, std::string>> failures;  ///< the first ones: point, error
};

/// The experiments still to be run, one per digest, in the order of the points.
[[nodiscard]] std::vector<const SweepPoint*> missing_points(
    const SweepPlan& plan, const std::set<std::string>& done, const SweepOptions& options);

/// Runs missing experiments in worker processes, and writes sweep.db and results.csv. A failed
/// experiment is stored with its error. Throws ConfigError, IoError; completed results are kept.
[[nodiscard]] SweepSummary run_sweep(const SweepPlan& plan, const SweepOptions& options);

/// Summary after all have run; writes results.csv.
[[nodiscard]] SweepSummary
summarise(SweepDatabase& database, const SweepOptions& options, std::uint64_t ran);

}  // namespace switchfold
