// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error.h"
#include "core/record.h"
#include "sim/intervals/likeness.h"
#include "sim/pool/progress.h"
#include "validation/harness/kept_results.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::validation {

/// A measured number and its simulated counterpart.
struct Case {
    std::string id;        ///< unique within the suite
    std::string group;     ///< mean errors are reported per group: a table, a trace
    std::string quantity;  ///< "time", "slowdown", ...
    std::string unit;      ///< "us", "GB/s", "1"
    double measured = 0;
    std::optional<double> low;  ///< interval of the measurement, if known
    std::optional<double> high;
    double simulated = 0;
    bool fitted = false;  ///< a parameter of the machine was fitted to this case's group
    std::string how;      ///< description of the simulation, for the text report only
    /// What would be measured if there were no effect: 1 of a slowdown. An answer is judged by how
    /// much of the effect it gets wrong.
    double nothing = 0;
    /// What makes cases like this one; of no kind: its error says nothing of others.
    intervals::Likeness like = {};
    std::string machine = {};  ///< kind of machine that it was measured on, by its system
    /// Signed, relative to the measured value: 0.1 is 10 % too large. If the measured value is 0:
    /// the difference.
    [[nodiscard]] double error() const {
        return measured == 0 ? simulated : simulated / measured - 1.0;
    }
    /// Absolute error; 0 within the measurement's interval.
    [[nodiscard]] double error_beyond_interval() const;
    /// Whether the measurement can tell answers apart: its interval, if it has one, holds neither
    /// no effect, nor half, nor twice of what was measured.
    [[nodiscard]] bool tells() const;

    static constexpr auto fields() {
        using C = Case;
        return list_of(
            member("id", &C::id), member("group", &C::group), member("quantity", &C::quantity),
            member("unit", &C::unit), member("measured", &C::measured), member("low", &C::low),
            member("high", &C::high), member("simulated", &C::simulated),
            member("fitted", &C::fitted), member("how", &C::how), member("nothing", &C::nothing),
            member("like", &C::like), member("machine", &C::machine));
    }
};

/// ln of the measured over the simulated time, or of their shares of lost time if the case is of an
/// effect, with a hundredth added to both: smaller effects nobody tells apart. None if the case has
/// no likeness, is not above 0, or does not tell answers apart. Of rates (units with a stroke) and
/// speed-ups the logarithm is that of the times behind them.
[[nodiscard]] std::optional<double> log_ratio_of(const Case& c);

/// A measurement that cannot be compared.
struct Unmatched {
    std::string id;
    std::string why;

    static constexpr auto fields() {
        return list_of(member("id", &Unmatched::id), member("why", &Unmatched::why));
    }
};

/// A tolerance of the suite: `value` must not exceed `limit` (both are shares, as errors).
struct Verdict {
    std::string what;
    double value = 0;
    double limit = 0;
    [[nodiscard]] bool kept() const { return value <= limit; }

    static constexpr auto fields() {
        return list_of(
            member("what", &Verdict::what), member("value", &Verdict::value),
            member("limit", &Verdict::limit));
    }
};

/// What a group's measurements had to do with how the simulator was made.
enum class Standing {
    kUnseen,  ///< nothing was fitted or chosen on them
    kChosen,  ///< a mechanism was chosen by looking at them
    kFitted,  ///< a parameter was fitted to them
};

/// "unseen", "chosen", "fitted".
[[nodiscard]] std::string_view standing_word(Standing standing);

/// The first comparison of a group, kept beside today's.
struct FirstComparison {
    double error = 0;  ///< mean absolute, of all its quantities
    std::string date;
    std::string commit;
};

/// The verdict on one quantity of a group of cases (judging.h).
struct GroupVerdict {
    std::string group;
    std::string quantity;
    std::size_t cases = 0;
    std::size_t judged = 0;  ///< cases whose measurement tells answers apart
    double error = 0;        ///< over the judged: mean, or of effects the share that is wrong
    double limit = 0;
    std::string reason;  ///< of the limit
    Standing standing = Standing::kUnseen;
    std::string chosen;  ///< what was chosen on the group; empty if nothing
    std::string known;   ///< why it is off, if that is known
    std::optional<FirstComparison> first;
    [[nodiscard]] bool kept() const { return judged == 0 || error <= limit; }
};

struct SuiteResult {
    std::string name;
    std::vector<Case> cases;
    std::vector<Unmatched> unmatched;
    std::vector<Verdict> verdicts;
    std::vector<GroupVerdict> groups;  ///< judge() of the cases
    std::vector<std::string> notes;    ///< caveats for the reader
    std::string skipped;               ///< reason why nothing ran; empty if the suite ran
    bool judged = true;  ///< false: a user's own table, for which no limits are stated

    /// What running the suite gives; judge() makes the groups of it.
    static constexpr auto fields() {
        using S = SuiteResult;
        return list_of(
            member("name", &S::name), member("cases", &S::cases),
            member("unmatched", &S::unmatched), member("verdicts", &S::verdicts),
            member("notes", &S::notes), member("skipped", &S::skipped),
            member("judged", &S::judged));
    }
};

/// Adds the cases, unmatched measurements and notes of a part of the suite.
void append(SuiteResult part, SuiteResult& suite);

/// Mean absolute relative error; 0 without cases.
[[nodiscard]] double mape(std::span<const Case* const> cases);
[[nodiscard]] double mape(const std::vector<Case>& cases);

struct GroupSummary {
    std::string name;
    double mape = 0;
    std::size_t cases = 0;
    bool fitted = false;  ///< whether any of its cases is
};
/// Groups in order of their first case.
[[nodiscard]] std::vector<GroupSummary> summarise_groups(const std::vector<Case>& cases);

struct SuiteOptions {
    std::optional<std::filesystem::path> data;  ///< for one suite: its own file or folder
    std::filesystem::path measurements;  ///< folder with the data of all suites; may be empty
    std::filesystem::path system;        ///< system on which all data were measured; or empty
    std::filesystem::path root;          ///< the repository: configs/systems lies below
    unsigned jobs = 1;                   ///< processes for run_jobs()
    std::function<void(const WorkerProgress&)> progress;
    std::filesystem::path map;  ///< of a user's table; empty: the table names its columns itself
    /// Processor time of one row, above which it is left out; none: the suite's own.
    std::optional<std::uint32_t> row_seconds;
    KeptResults kept;
    std::function<void(const std::string&)> log;  ///< receives a line on what is done; may be empty
};

/// Kind of a suite's input; kFiles: a file, or a folder of files that the user names.
enum class DataKind { kFile, kFiles, kFolder };

/// A set of measurements to compare the simulator with. A new suite is one file with a `run`
/// function and one line in suites.cpp. `run` reads its data (ConfigError "file: line N: what; what
/// was expected" if they are wrong), creates one Job per simulation (sim/pool/pool.h,
/// sim/machine/simulate.h), runs them on options.jobs processes, and returns cases in an order
/// that depends only on the data. Measurements that cannot be compared go to `unmatched` with a
/// reason; none is dropped.
struct Suite {
    std::string_view name;
    std::string_view what;  ///< one line for --help
    DataKind data_kind = DataKind::kFile;
    std::string_view data;  ///< relative to a folder of measurements (data.h)
    SuiteResult (*run)(const SuiteOptions& options) = nullptr;
    bool takes_system = false;  ///< whether SuiteOptions::system applies to it
    bool keeps_rows =
        false;  ///< it keeps each row's result by itself, whose files may lie anywhere
};
[[nodiscard]] std::span<const Suite> suites();
/// The suite of that name. \pre it exists.
[[nodiscard]] const Suite& suite_named(std::string_view name);

/// {"suites": [...]}, for scripts.
[[nodiscard]] std::string to_json(std::span<const SuiteResult> results);
/// Tables of cases, groups (fitted and unfitted ones separately), verdicts and unmatched rows.
[[nodiscard]] std::string to_text(const SuiteResult& result);
/// kOutOfTolerance if a verdict is violated or a suite that ran compared nothing, else kDone.
[[nodiscard]] ExitCode exit_code_of(std::span<const SuiteResult> results);

}  // namespace switchfold::validation
