// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/nccl_tests/log.h"

#include "core/error.h"
#include "core/text.h"
#include "core/text_cells.h"
#include "workloads/readers/input/lines.h"
#include "workloads/readers/nccl_tests/printed_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

namespace switchfold {

namespace {

struct TestProgram {
    std::string_view name;  ///< without _perf
    CollectiveKind kind;
};
constexpr std::array kPrograms{
    TestProgram{"all_reduce", CollectiveKind::kAllReduce},
    TestProgram{"all_gather", CollectiveKind::kAllGather},
    TestProgram{"reduce_scatter", CollectiveKind::kReduceScatter},
    TestProgram{"alltoall", CollectiveKind::kAllToAll},
    TestProgram{"broadcast", CollectiveKind::kBroadcast},
    TestProgram{"reduce", CollectiveKind::kReduce},
    TestProgram{"sendrecv", CollectiveKind::kSendReceive},
    TestProgram{"gather", CollectiveKind::kGather},
    TestProgram{"scatter", CollectiveKind::kScatter}};

template <class T>
std::optional<T> number(const std::string& word) {
    T value{};
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (code != std::errc{} || end != word.data() + word.size())
        return std::nullopt;
    return value;
}

/// Why a row says nothing.
struct Unreadable {
    std::string why;
};

/// What a run's header says of its columns.
struct Columns {
    bool root = true;
    bool counts_wrong = false;  ///< old versions print the largest difference there
    bool of_host = false;       ///< times are those of the host's calls (-C 1)
};

class LogReader {
public:
    LogReader(const std::filesystem::path& file, std::uint64_t most) :
        file_(file.string()), lines_(file, most) {}

    std::vector<NcclTestsLog> run() {
        std::string line;
        while (lines_.next(line)) {
            line = printed_part(std::move(line));
            const std::size_t first = line.find_first_not_of(" \t\r");
            if (first != std::string::npos && line[first] == '#')
                read_comment(line);
            else if (first != std::string::npos)
                read_row(line);
            else
                ++log_.dropped["empty lines"];
            ++log_.lines;
        }
        end_run();
        if (runs_.empty() && unread_)
            throw ConfigError(file_, fmt::format("line {}", unread_->line), unread_->why);
        if (runs_.empty())
            throw ConfigError(
                file_, "", "holds no row of results; expected the log of a whole run");
        return std::move(runs_);
    }

private:
    /// What follows is of another run.
    void end_run() {
        if (!log_.rows.empty()) {
            if (log_.ranks == 0)
                throw ConfigError(
                    file_, "", "lists no ranks; expected nccl-tests' \"#  Rank  0 ...\" lines");
            log_.hosts = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(hosts_.size()));
            log_.kind = kind();
            runs_.push_back(std::move(log_));
        } else if (!log_.unread.empty() && !unread_) {
            unread_ = log_.unread.front();
        }
        log_ = {};
        hosts_.clear();
        test_.clear();
        columns_ = {};
    }

    void read_comment(const std::string& line) {
        const std::vector<std::string> words = split_words(line);
        if (words.size() > 2 && words[0] == "#" && words[1] == "Rank")
            if (const auto rank = number<std::uint64_t>(words[2]))
                return read_rank(line, words, *rank);
        const std::size_t test = line.find("_perf");
        const bool names_test = contains(line, "Collective test") && test != std::string::npos;
        const bool options = contains(line, "# nThread");
        const bool library = contains(line, "nccl-library=");
        // A run prints its versions, its test's name and its options, as far as its version does.
        if ((names_test || options || library) && !(log_.rows.empty() && log_.unread.empty()))
            end_run();
        ++log_.dropped["comments"];
        if (names_test)
            test_ = line.substr(0, test).substr(line.rfind(' ', test) + 1);
        if (library || contains(line, "NCCL version"))
            log_.library = line;
        if (contains(line, "busbw"))
            read_header(line, words);
        if (options) {
            // A run before it may have failed before its first row.
            log_.ranks = 0;
            log_.gpu.clear();
            hosts_.clear();
            read_options(words);
        }
    }

    void read_header(const std::string& line, const std::vector<std::string>& words) {
        columns_.counts_wrong = contains(line, "#wrong");
        columns_.of_host = contains(line, "cputime");
        columns_.root = std::find(words.begin(), words.end(), "root") != words.end();
    }

    void
    read_rank(const std::string& line, const std::vector<std::string>& words, std::uint64_t rank) {
        constexpr std::uint64_t kMostRanks = 1'000'000;
        if (rank >= kMostRanks)
            throw ConfigError(
                file_, fmt::format("line {}", lines_.number()),
                fmt::format("names rank {}; expected less than 1,000,000", rank));
        log_.ranks = std::max(log_.ranks, static_cast<std::uint32_t>(rank + 1));
        const std::size_t bracket = line.find(']');
        if (log_.gpu.empty() && bracket != std::string::npos && bracket + 2 < line.size())
            log_.gpu = line.substr(bracket + 2);
        const auto on = std::find(words.begin(), words.end(), "on");
        if (on != words.end() && on + 1 != words.end())
            hosts_.insert(*(on + 1));
        ++log_.used["ranks"];
    }

    /// "# nThread 1 nGpus 8 minBytes 8 ... graph: 0"
    void read_options(const std::vector<std::string>& words) {
        for (std::size_t i = 0; i + 1 < words.size(); ++i) {
            if (words[i] == "nGpus")
                log_.gpus_of_thread = std::max(1U, number<std::uint32_t>(words[i + 1]).value_or(1));
            if (words[i] == "graph:")
                log_.graph = words[i + 1] != "0";
        }
    }

    void read_row(const std::string& line) {
        const std::vector<std::string> words = split_words(line);
        const auto bytes = words.empty() ? std::nullopt : number<std::uint64_t>(words[0]);
        if (!bytes) {
            if (contains(line, "NCCL version"))
                log_.library = line;
            ++log_.dropped["lines that are not results"];  // of the launcher or NCCL_DEBUG
            return;
        }
        try {
            log_.rows.push_back(row_of(*bytes, words));
            ++log_.used["collectives"];
        } catch (const Unreadable& row) {
            log_.unread.push_back({lines_.number(), row.why});
            ++log_.dropped["rows that cannot be read"];
        }
    }

    [[nodiscard]] NcclTestsRow
    row_of(std::uint64_t bytes, const std::vector<std::string>& words) const {
        // Behind size, count, type, redop and, in versions since 2.10, root.
        const std::size_t out_of_place = columns_.root ? 5 : 4;
        const std::size_t in_place = out_of_place + 4;  // time, algbw, busbw, #wrong
        constexpr std::size_t kNumbers = 3;
        if (words.size() < out_of_place + kNumbers ||
            (words.size() > in_place && words.size() < in_place + kNumbers))
            throw Unreadable{
                "has fewer columns; expected size, count, type, redop, root, and time, algbw, "
                "busbw, #wrong out of place and in place"};
        const auto root = columns_.root ? number<std::int64_t>(words[4]) : -1;
        if (!root || bytes >> 48U)
            throw Unreadable{"holds cells that are not numbers; expected size and root"};
        NcclTestsRow row{lines_.number(), bytes, words[2],     words[3],
                         *root,           {},    std::nullopt, std::nullopt};
        row.out_of_place = time_at(words, out_of_place);
        if (words.size() >= in_place + kNumbers)
            row.in_place = time_at(words, in_place);
        return row;
    }

    [[nodiscard]] NcclTestsTime
    time_at(const std::vector<std::string>& words, std::size_t first) const {
        const auto time = number<double>(words[first]);
        const auto algorithm = number<double>(words[first + 1]);
        const auto bus = number<double>(words[first + 2]);
        constexpr double kMost = 1e12;
        if (!time || !algorithm || !bus || !(*time > 0) || !(*time < kMost))
            throw Unreadable{"holds cells that are not numbers; expected time, algbw and busbw"};
        NcclTestsTime measured{columns_.of_host ? 0 : *time, *algorithm, *bus, std::nullopt};
        // N/A: not checked.
        if (columns_.counts_wrong && first + 3 < words.size())
            measured.wrong = number<std::uint64_t>(words[first + 3]);
        return measured;
    }

    [[nodiscard]] CollectiveKind kind() const {
        if (!test_.empty())
            return named_kind();
        // The largest row's bandwidths have the most digits.
        const NcclTestsRow& row = log_.rows.back();
        if (row.root >= 0)
            return row.reduction == "none" ? CollectiveKind::kBroadcast : CollectiveKind::kReduce;
        const NcclTestsTime& time = row.out_of_place;
        const double ratio =
            time.algorithm_bandwidth > 0 ? time.bus_bandwidth / time.algorithm_bandwidth : 0;
        const double all = 2.0 * (log_.ranks - 1) / log_.ranks;
        constexpr double kRounded = 0.05;  // bandwidths have two digits behind the point
        if (row.reduction != "none" && std::abs(ratio - all) < kRounded)
            return CollectiveKind::kAllReduce;
        if (row.reduction != "none" && std::abs(ratio - all / 2) < kRounded)
            return CollectiveKind::kReduceScatter;
        throw ConfigError(
            file_, fmt::format("line {}", row.line),
            "could be of several collectives; expected a log that says \"Collective test "
            "starting: all_gather_perf\" (nccl-tests 2.17), or add that line at its beginning, as "
            "a comment");
    }

    [[nodiscard]] CollectiveKind named_kind() const {
        std::vector<std::string_view> known;
        for (const TestProgram& program : kPrograms) {
            if (program.name == test_)
                return program.kind;
            known.push_back(program.name);
        }
        throw ConfigError(
            file_, "",
            fmt::format(
                "is of {}_perf, which is not known; expected one of: {}", test_,
                fmt::join(known, ", ")));
    }

    std::string file_;
    LineReader lines_;
    std::vector<NcclTestsLog> runs_;
    NcclTestsLog log_;  ///< of the run that is read
    std::set<std::string> hosts_;
    std::string test_;
    Columns columns_;
    std::optional<UnreadRow> unread_;  ///< the first one of a run that has no others
};

}  // namespace

bool is_nccl_tests(std::string_view beginning) {
    return contains(beginning, "# nThread") ||
           (contains(beginning, "redop") && contains(beginning, "busbw"));
}

std::vector<NcclTestsLog> read_nccl_logs(const std::filesystem::path& file, std::uint64_t most) {
    return LogReader(file, most).run();
}

}  // namespace switchfold
