// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/sqlite.h"
#include "sim/sweep/plan.h"
#include "sim/sweep/run_record.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace switchfold {

/// Changes whenever a table or column changes its meaning or is removed.
inline constexpr const char* kSweepSchema = "switchfold-sweep-3";
inline constexpr const char* kDatabaseName = "sweep.db";

/// State of a sweep's points.
struct SweepCount {
    std::uint64_t points = 0;
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
};

/// A sweep's database, one file, described in docs/scenarios.md. Results are stored by their
/// experiment's digest; a modified sweep keeps those that it still needs.
class SweepDatabase {
public:
    /// Creates the file if it does not exist. Throws ConfigError if it belongs to another sweep,
    /// version or schema; IoError.
    SweepDatabase(const std::filesystem::path& file, const SweepPlan& plan);

    /// Digests of experiments that succeeded.
    [[nodiscard]] std::set<std::string> done();
    /// Digests of experiments that failed.
    [[nodiscard]] std::set<std::string> ended();
    /// Iteration (us) of the first scenario of successful experiments, by digest.
    [[nodiscard]] std::map<std::string, double> iterations();
    /// Removes failed runs.
    void forget_failed();
    /// Stores a run, replacing a failed one. It reaches the disk within half a second if tick() is
    /// called as often, and after flush().
    void record(const RunRecord& run);
    void tick();
    void flush();
    /// Imports the runs of another database of the same plan. \returns the number of new ones.
    std::uint64_t merge(const std::filesystem::path& other);
    [[nodiscard]] SweepCount count();
    /// Failed points, in order: name and error; at most `most`.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> failures(std::size_t most);
    /// Writes the view `results` as RFC 4180.
    void write_csv(const std::filesystem::path& file);

private:
    std::set<std::string> digests(const char* query);
    void create();
    void check_meta(const std::string& name);
    void write_plan(const SweepPlan& plan);
    void write_axes(const SweepPlan& plan);
    void write_view(const SweepPlan& plan);
    void begin();
    std::filesystem::path path_;
    Sqlite database_;
    bool open_ = false;  ///< a transaction is open
    std::chrono::steady_clock::time_point opened_;
};

}  // namespace switchfold
