// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/nccl_tests/reader.h"

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "workloads/profile/classify.h"
#include "workloads/readers/input/lines.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <sstream>

namespace switchfold {

namespace {

struct Row {
    std::uint64_t line = 0;
    std::uint64_t bytes = 0;
    std::string type;
    std::string reduction;
    std::int64_t root = -1;
    double time_us = 0;
    double algorithm_bandwidth = 0;
    double bus_bandwidth = 0;
};

template <class T>
std::optional<T> number(const std::string& word) {
    T value{};
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (code != std::errc{} || end != word.data() + word.size())
        return std::nullopt;
    return value;
}

class NcclTestsReader {
public:
    NcclTestsReader(const std::filesystem::path& file, std::uint64_t most) :
        file_(file.string()), lines_(file, most) {}

    TraceWorkload run() {
        std::string line;
        while (lines_.next(line)) {
            ++events_;
            const std::size_t first = line.find_first_not_of(" \t\r");
            if (first == std::string::npos)
                ++dropped_["empty lines"];
            else if (line[first] == '#')
                read_comment(line);
            else
                read_row(line);
        }
        if (rows_.empty())
            throw ConfigError(
                file_, "", "holds no row of results; expected the log of a whole run");
        if (ranks_ == 0)
            throw ConfigError(
                file_, "", "lists no ranks; expected nccl-tests' \"#  Rank  0 ...\" lines");
        return build();
    }

private:
    void read_comment(const std::string& line) {
        std::istringstream words(line);
        std::string hash;
        std::string word;
        std::uint64_t rank = 0;
        words >> hash >> word;
        if (hash == "#" && word == "Rank" && words >> rank) {
            constexpr std::uint64_t kMostRanks = 1'000'000;
            if (rank >= kMostRanks)
                fail(fmt::format("names rank {}; expected less than 1,000,000", rank));
            ranks_ = std::max(ranks_, static_cast<std::uint32_t>(rank + 1));
            const std::size_t bracket = line.find(']');
            if (gpu_.empty() && bracket != std::string::npos && bracket + 2 < line.size())
                gpu_ = line.substr(bracket + 2);
            ++used_["ranks"];
            return;
        }
        const std::size_t test = line.find("_perf");
        if (contains(line, "Collective test") && test != std::string::npos)
            test_ = line.substr(0, test).substr(line.rfind(' ', test) + 1);
        ++dropped_["comments"];
    }

    void read_row(const std::string& line) {
        std::istringstream stream(line);
        std::vector<std::string> words;
        for (std::string word; stream >> word;)
            words.push_back(word);
        Row row;
        row.line = lines_.number();
        const auto bytes = words.empty() ? std::nullopt : number<std::uint64_t>(words[0]);
        if (!bytes) {
            ++dropped_["lines that are no results"];  // of the launcher or NCCL_DEBUG
            return;
        }
        constexpr std::size_t kColumns = 8;  // up to the out-of-place bus bandwidth
        if (words.size() < kColumns)
            fail("has fewer columns; expected size, count, type, redop, root, time, algbw, busbw");
        const auto root = number<std::int64_t>(words[4]);
        const auto time = number<double>(words[5]);
        const auto algorithm = number<double>(words[6]);
        const auto bus = number<double>(words[7]);
        if (!root || !time || !algorithm || !bus || !(*time > 0) || !(*time < 1e12) ||
            *bytes >> 48U)
            fail("holds something else than numbers; expected root, time, algbw and busbw");
        rows_.push_back({row.line, *bytes, words[2], words[3], *root, *time, *algorithm, *bus});
        ++used_["collectives"];
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw ConfigError(file_, fmt::format("line {}", lines_.number()), what);
    }

    [[nodiscard]] CollectiveKind kind() const {
        if (!test_.empty()) {
            if (const auto named = classify_collective(test_, ""))
                return *named;
            if (test_ == "reduce")
                return CollectiveKind::kReduce;
        }
        // The largest row's bandwidths have the most digits.
        const Row& row = rows_.back();
        if (row.root >= 0)
            return row.reduction == "none" ? CollectiveKind::kBroadcast : CollectiveKind::kReduce;
        const double ratio =
            row.algorithm_bandwidth > 0 ? row.bus_bandwidth / row.algorithm_bandwidth : 0;
        const double all = 2.0 * (ranks_ - 1) / ranks_;
        constexpr double kRounded = 0.05;  // bandwidths have two digits behind the point
        if (row.reduction != "none" && std::abs(ratio - all) < kRounded)
            return CollectiveKind::kAllReduce;
        if (row.reduction != "none" && std::abs(ratio - all / 2) < kRounded)
            return CollectiveKind::kReduceScatter;
        throw ConfigError(
            file_,
            fmt::format("line {}", row.line),
            "could be of several collectives; expected a log that says \"Collective test "
            "starting: all_gather_perf\" (nccl-tests 2.17), or add that line as a comment");
    }

    TraceWorkload build() {
        const CollectiveKind kind = this->kind();
        auto rank = std::make_shared<RankGraph>();
        rank->streams.push_back({StreamKind::kGpu, "nccl-tests", 0});
        TraceWorkload workload;
        Time now;
        BigVector<TraceWorkload::Measured> measured;
        for (const Row& row : rows_) {
            CollectiveOperation collective;
            collective.kind = kind;
            collective.bytes = Bytes(row.bytes);
            collective.datatype = parse_datatype(row.type).value_or(Datatype::kUint8);
            collective.sequence = rank->operations.size();
            collective.measured = Time(static_cast<std::uint64_t>(row.time_us * 1e6));
            Operation operation;
            operation.body = collective;
            rank->operations.push_back(std::move(operation));
            measured.push_back({now, now + collective.measured});
            now += collective.measured;
        }
        Group world{"world", std::vector<std::uint32_t>(ranks_)};
        std::iota(world.ranks.begin(), world.ranks.end(), 0U);
        TraceFileReport report;
        report.file = file_;
        report.format = "nccl-tests";
        report.gpu_name = gpu_;
        report.world_size = ranks_;
        report.steps = 1;
        report.events = events_;
        report.used = std::move(used_);
        report.dropped = std::move(dropped_);
        count_operations(*rank, report);
        workload.graph.names = {std::string(to_string(kind))};
        workload.graph.groups = {std::move(world)};
        workload.graph.ranks = {std::move(rank)};
        workload.graph.provenance = {file_, gpu_, false, 1, ranks_, now};
        workload.files = {std::move(report)};
        workload.measured = {std::move(measured)};
        return workload;
    }

    std::string file_;
    LineReader lines_;
    std::vector<Row> rows_;
    std::string test_;
    std::string gpu_;
    std::uint32_t ranks_ = 0;
    std::uint64_t events_ = 0;
    std::map<std::string, std::uint64_t> used_;
    std::map<std::string, std::uint64_t> dropped_;
};

}  // namespace

bool is_nccl_tests(std::string_view beginning) {
    return contains(beginning, "# nThread") ||
           (contains(beginning, "out-of-place") && contains(beginning, "busbw"));
}

TraceWorkload read_nccl_tests(const std::filesystem::path& file, std::uint64_t most) {
    return NcclTestsReader(file, most).run();
}

}  // namespace switchfold
