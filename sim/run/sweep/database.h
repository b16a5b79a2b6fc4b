// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/sweep/plan.h"
#include "sim/run/sweep/run_record.h"
#include "sim/run/sweep/sqlite.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace switchfold {

/// Changes when a table or column of the database changes its meaning or goes.
inline constexpr const char* kSweepSchema = "switchfold-sweep-2";
inline constexpr const char* kDatabaseName = "sweep.db";

/// What a sweep has of its points.
struct SweepCount {
    std::uint64_t points = 0;
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
};

/// The database of a sweep, one file: docs/sweeps.md says what is in it. Results are kept by the
/// digest of their experiment; a sweep that was changed keeps those that it still needs.
class SweepDatabase {
public:
    /// Creates the file if it is not there. Throws ConfigError if it is of another sweep, version
    /// or schema; IoError.
    SweepDatabase(const std::filesystem::path& file, const SweepPlan& plan);

    /// Digests of the experiments that ended well.
    [[nodiscard]] std::set<std::string> done();
    /// And of those that failed.
    [[nodiscard]] std::set<std::string> ended();
    /// Iteration of the first scenario of those that ended well, by digest, us.
    [[nodiscard]] std::map<std::string, double> iterations();
    /// As if they had never run.
    void forget_failed();
    /// Keeps a run, in place of a failed one before. It is on the disk within half a second if
    /// tick() is called as often, and after flush().
    void record(const RunRecord& run);
    void tick();
    void flush();
    /// Takes over the runs of another database of the same plan. \returns how many are new.
    std::uint64_t merge(const std::filesystem::path& other);
    [[nodiscard]] SweepCount count();
    /// Failed points, in order: name and error; at most `most`.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> failures(std::size_t most);
    /// The view `results` as RFC 4180.
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
    bool open_ = false;  ///< a transaction
    std::chrono::steady_clock::time_point opened_;
};

}  // namespace switchfold
