// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/error.h"
#include "sim/run/pool/progress.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::validation {

/// One measured number beside the simulated one.
struct Case {
    std::string id;        ///< unique within the suite
    std::string group;     ///< whose mean error is reported together: a table, a trace
    std::string quantity;  ///< "time", "slowdown", ...
    std::string unit;      ///< "us", "GB/s", "1"
    double measured = 0;
    std::optional<double> low;  ///< the measurement's interval, where one is known
    std::optional<double> high;
    double simulated = 0;
    bool fitted = false;  ///< a parameter of the machine was fitted on this case's group
    std::string how;      ///< what was simulated, in words, for the text report alone
    /// Signed, relative to the measured value: 0.1 is 10 % too large. Of a measured 0: the
    /// difference.
    [[nodiscard]] double error() const {
        return measured == 0 ? simulated : simulated / measured - 1.0;
    }
    /// Absolute error; 0 within the measurement's interval.
    [[nodiscard]] double error_beyond_interval() const;
};

/// A measurement that could not be compared.
struct Unmatched {
    std::string id;
    std::string why;
};

/// A promise of the suite: `value` may be at most `limit` (shares, as errors are).
struct Verdict {
    std::string what;
    double value = 0;
    double limit = 0;
    [[nodiscard]] bool kept() const { return value <= limit; }
};

struct SuiteResult {
    std::string name;
    std::vector<Case> cases;
    std::vector<Unmatched> unmatched;
    std::vector<Verdict> verdicts;
    std::vector<std::string> notes;  ///< what a reader of the numbers must know
    std::string skipped;             ///< why nothing was run; empty if the suite ran
};

/// Mean absolute relative error; 0 without cases.
[[nodiscard]] double mape(std::span<const Case* const> cases);
[[nodiscard]] double mape(const std::vector<Case>& cases);

struct GroupSummary {
    std::string name;
    double mape = 0;
    std::size_t cases = 0;
    bool fitted = false;  ///< any of its cases is
};
/// Groups in the order of their first case.
[[nodiscard]] std::vector<GroupSummary> summarise_groups(const std::vector<Case>& cases);

struct SuiteOptions {
    std::optional<std::filesystem::path> data;  ///< of one suite: its own file or folder
    std::filesystem::path measurements;         ///< folder of all suites' data; may be empty
    std::filesystem::path system;               ///< that all of the data was measured on; or empty
    std::filesystem::path root;                 ///< the repository: configs/systems lies below
    unsigned jobs = 1;                          ///< processes for run_jobs()
    std::function<void(const WorkerProgress&)> progress;
};

/// What a suite reads; kFiles: a file, or a folder of files that the user names.
enum class DataKind { kFile, kFiles, kFolder };

/// A set of measurements that the simulator is held against. A new suite is one file with a
/// `run` function and one line in suites.cpp. `run` reads its data (ConfigError "file: line N:
/// what; what was expected" if that is wrong), makes a Job a simulation (sim/run/pool/pool.h,
/// sim/run/machine/simulate.h), runs them on options.jobs processes, and returns cases in an order
/// that depends on the data alone. What cannot be compared goes to `unmatched` with its reason,
/// never away.
struct Suite {
    std::string_view name;
    std::string_view what;  ///< one line for --help
    DataKind data_kind = DataKind::kFile;
    std::string_view data;  ///< relative to a folder of measurements (data.h)
    SuiteResult (*run)(const SuiteOptions& options) = nullptr;
    bool takes_system = false;  ///< SuiteOptions::system means something to it
};
[[nodiscard]] std::span<const Suite> suites();
/// The suite of that name, which must exist.
[[nodiscard]] const Suite& suite_named(std::string_view name);

/// {"suites": [...]}: the keys of the design's contract and no others.
[[nodiscard]] std::string to_json(std::span<const SuiteResult> results);
/// Tables: each case, each group (never fitted and fitted apart), verdicts, unmatched.
[[nodiscard]] std::string to_text(const SuiteResult& result);
/// kOutOfTolerance if a verdict is not kept or a suite that ran compared nothing, else kDone.
[[nodiscard]] ExitCode exit_code_of(std::span<const SuiteResult> results);

}  // namespace switchfold::validation
