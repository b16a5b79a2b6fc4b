// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/nccl_tests/log.h"

#include "core/error.h"
#include "core/text.h"
#include "core/text_cells.h"
#include "workloads/readers/input/lines.h"

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

/// Length of what a launcher put before a line: mpirun --tag-output "[1,0]<stdout>:", srun --label
/// "0: ".
std::size_t launcher_tag(std::string_view line) {
    const auto digits = [&](std::size_t from) {
        while (from < line.size() && line[from] >= '0' && line[from] <= '9')
            ++from;
        return from;
    };
    const std::size_t label = digits(0);
    if (label > 0 && line.substr(label).starts_with(": "))
        return label + 2;
    const std::size_t job = digits(1);
    if (!line.starts_with('[') || job == 1 || !line.substr(job).starts_with(','))
        return 0;
    const std::size_t rank = digits(job + 1);
    for (const std::string_view end : {"]<stdout>:", "]<stderr>:"})
        if (rank > job + 1 && line.substr(rank).starts_with(end))
            return rank + end.size();
    return 0;
}

class LogReader {
public:
    LogReader(const std::filesystem::path& file, std::uint64_t most) :
        file_(file.string()), lines_(file, most) {}

    NcclTestsLog run() {
        std::string line;
        while (lines_.next(line)) {
            ++log_.lines;
            line.erase(0, launcher_tag(line));
            const std::size_t first = line.find_first_not_of(" \t\r");
            if (first == std::string::npos)
                ++log_.dropped["empty lines"];
            else if (line[first] == '#')
                read_comment(line);
            else
                read_row(line);
        }
        if (log_.rows.empty())
            throw ConfigError(
                file_, "", "holds no row of results; expected the log of a whole run");
        if (log_.ranks == 0)
            throw ConfigError(
                file_, "", "lists no ranks; expected nccl-tests' \"#  Rank  0 ...\" lines");
        log_.hosts = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(hosts_.size()));
        log_.kind = kind();
        return std::move(log_);
    }

private:
    void read_comment(const std::string& line) {
        const std::vector<std::string> words = split_words(line);
        if (words.size() > 2 && words[0] == "#" && words[1] == "Rank")
            if (const auto rank = number<std::uint64_t>(words[2]))
                return read_rank(line, words, *rank);
        ++log_.dropped["comments"];
        const std::size_t test = line.find("_perf");
        if (contains(line, "Collective test") && test != std::string::npos)
            test_ = line.substr(0, test).substr(line.rfind(' ', test) + 1);
        if (contains(line, "nccl-library=") || contains(line, "NCCL version"))
            log_.library = line;
        if (contains(line, "#wrong"))
            counts_wrong_ = true;
        if (contains(line, "Avg bus bandwidth"))
            log_.whole = true;
        if (contains(line, "# nThread"))
            read_options(words);
    }

    void
    read_rank(const std::string& line, const std::vector<std::string>& words, std::uint64_t rank) {
        constexpr std::uint64_t kMostRanks = 1'000'000;
        if (rank >= kMostRanks)
            fail(fmt::format("names rank {}; expected less than 1,000,000", rank));
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
        constexpr std::size_t kOutOfPlace = 5;  // after size, count, type, redop, root
        constexpr std::size_t kInPlace = 9;     // after out-of-place time, algbw, busbw, #wrong
        constexpr std::size_t kNumbers = 3;
        if (words.size() < kOutOfPlace + kNumbers ||
            (words.size() > kInPlace && words.size() < kInPlace + kNumbers))
            fail("has fewer columns; expected size, count, type, redop, root, and time, algbw, "
                 "busbw, #wrong out of place and in place");
        const auto root = number<std::int64_t>(words[4]);
        if (!root || *bytes >> 48U)
            fail("holds cells that are not numbers; expected size and root");
        NcclTestsRow row{lines_.number(), *bytes, words[2],     words[3],
                         *root,           {},     std::nullopt, std::nullopt};
        row.out_of_place = time_at(words, kOutOfPlace);
        if (words.size() >= kInPlace + kNumbers)
            row.in_place = time_at(words, kInPlace);
        log_.rows.push_back(std::move(row));
        ++log_.used["collectives"];
    }

    [[nodiscard]] NcclTestsTime
    time_at(const std::vector<std::string>& words, std::size_t first) const {
        const auto time = number<double>(words[first]);
        const auto algorithm = number<double>(words[first + 1]);
        const auto bus = number<double>(words[first + 2]);
        constexpr double kMost = 1e12;
        if (!time || !algorithm || !bus || !(*time > 0) || !(*time < kMost))
            fail("holds cells that are not numbers; expected time, algbw and busbw");
        NcclTestsTime measured{*time, *algorithm, *bus, std::nullopt};
        // Old versions print the largest difference there, as column error. N/A: not checked.
        if (counts_wrong_ && first + 3 < words.size())
            measured.wrong = number<std::uint64_t>(words[first + 3]);
        return measured;
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw ConfigError(file_, fmt::format("line {}", lines_.number()), what);
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
            "starting: all_gather_perf\" (nccl-tests 2.17), or add that line as a comment");
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
    NcclTestsLog log_;
    std::set<std::string> hosts_;
    std::string test_;
    bool counts_wrong_ = false;
};

}  // namespace

bool is_nccl_tests(std::string_view beginning) {
    return contains(beginning, "# nThread") ||
           (contains(beginning, "redop") && contains(beginning, "busbw"));
}

NcclTestsLog read_nccl_log(const std::filesystem::path& file, std::uint64_t most) {
    return LogReader(file, most).run();
}

}  // namespace switchfold
