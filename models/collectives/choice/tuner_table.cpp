// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/tuner_table.h"

#include "core/error.h"
#include "core/text_cells.h"
#include "models/collectives/choice/nccl_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string_view>
#include <utility>

namespace switchfold {

namespace {

constexpr std::array<std::pair<std::string_view, Algorithm>, 5> kTunedAlgorithms{
    {{"tree", Algorithm::kTree},
     {"ring", Algorithm::kRing},
     {"nvls", Algorithm::kInSwitch},
     {"nvls_tree", Algorithm::kInSwitchTree},
     {"collnet_direct", Algorithm::kCollnet}}};
constexpr std::array<std::pair<std::string_view, Protocol>, 3> kTunedProtocols{
    {{"ll", Protocol::kLl}, {"ll128", Protocol::kLl128}, {"simple", Protocol::kSimple}}};

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

class TunerLine {
public:
    TunerLine(std::string_view text, const std::string& file, std::uint32_t line) :
        file_(file), line_(line) {
        for (const std::string& cell : split_text(text, ','))
            cells_.emplace_back(trimmed(cell));
        constexpr std::size_t kLeast = 8;
        constexpr std::size_t kMost = 10;
        if (cells_.size() < kLeast || cells_.size() > kMost)
            fail(fmt::format(
                "has {} columns; expected 8 to 10: collective, least bytes, most bytes, algorithm, "
                "protocol, channels, nodes, ranks, and then pipelined operations and registered "
                "buffers where they matter",
                cells_.size()));
    }

    [[nodiscard]] TunerTable::Row row() const {
        TunerTable::Row row;
        row.line = line_;
        row.kind = word(0, kNcclFunctions);
        row.least = number(1, 0, INT64_MAX);
        row.most = number(2, 0, INT64_MAX);
        if (row.most < row.least)
            fail(fmt::format(
                "ends at {} bytes, below its begin at {}; expected the least bytes, then the most",
                row.most, row.least));
        if (simulated())
            row.algorithm = word(3, kTunedAlgorithms);
        row.protocol = word(4, kTunedProtocols);
        constexpr std::int64_t kMostRanks = 1 << 20U;
        row.channels = std::uint32_t(std::max<std::int64_t>(0, signed_number(5, -1, 64)));
        if (const auto nodes = signed_number(6, -1, kMostRanks); nodes >= 0)
            row.machines = std::uint32_t(nodes);
        if (const auto ranks = signed_number(7, -1, kMostRanks); ranks >= 0)
            row.ranks = std::uint32_t(ranks);
        if (cells_.size() > 9)
            if (const auto registered = signed_number(9, -1, 1); registered >= 0)
                row.registered = registered == 1;
        return row;
    }
    [[nodiscard]] const std::string& algorithm() const { return cells_[3]; }
    /// NCCL's other algorithms are no machine's here.
    [[nodiscard]] bool simulated() const {
        return algorithm() != "pat" && algorithm() != "collnet_chain";
    }
    /// Of operations that go in one pipeline; calls here go alone.
    [[nodiscard]] bool of_one_call() const {
        return cells_.size() < 9 || signed_number(8, -1, 1 << 20U) <= 1;
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw ConfigError(file_, fmt::format("line {}", line_), what);
    }
    template <class Value, std::size_t N>
    [[nodiscard]] Value
    word(std::size_t cell, const std::array<std::pair<std::string_view, Value>, N>& known) const {
        std::vector<std::string_view> names;
        for (const auto& [name, value] : known) {
            if (cells_[cell] == name)
                return value;
            names.push_back(name);
        }
        fail(fmt::format(
            "has \"{}\" in column {}{}; expected one of: {}", cells_[cell], cell + 1,
            did_you_mean(cells_[cell], names), fmt::join(names, ", ")));
    }
    [[nodiscard]] std::int64_t
    signed_number(std::size_t cell, std::int64_t least, std::int64_t most) const {
        std::int64_t value = 0;
        const std::string_view text = cells_[cell];
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || value < least ||
            value > most)
            fail(fmt::format(
                "has \"{}\" in column {}; expected a whole number from {} to {}", text, cell + 1,
                least, most));
        return value;
    }
    [[nodiscard]] std::uint64_t
    number(std::size_t cell, std::int64_t least, std::int64_t most) const {
        return static_cast<std::uint64_t>(signed_number(cell, least, most));
    }

    const std::string& file_;
    std::uint32_t line_;
    std::vector<std::string> cells_;
};

}  // namespace

TunerTable::TunerTable(const std::filesystem::path& file) {
    read(read_small_text(file, "a tuner's table"), file.string());
}

TunerTable::TunerTable(const std::string& text, const std::string& file) {
    read(text, file);
}

void TunerTable::read(const std::string& text, const std::string& file) {
    file_ = file;
    std::uint32_t number = 0;
    for (const std::string& written : split_text(text, '\n')) {
        const std::string_view line = trimmed(written);
        ++number;
        // Comments, and the names of the columns.
        if (line.empty() || line.front() == '#' || line.starts_with("coll"))
            continue;
        const TunerLine cells(line, file, number);
        Row row = cells.row();
        if (!cells.simulated())
            passed_.push_back({number, cells.algorithm()});
        else if (cells.of_one_call())
            rows_.push_back(row);
    }
    if (rows_.empty())
        throw ConfigError(
            file, "/",
            "has no row of what is simulated; expected a tuner's table, such as the line "
            "allreduce,0,65536,tree,ll,2,-1,-1");
}

std::string TunerTable::passed_over() const {
    if (passed_.empty())
        return {};
    constexpr std::size_t kTold = 8;
    std::vector<std::string> lines;
    for (const Passed& row : std::span(passed_).first(std::min(kTold, passed_.size())))
        lines.push_back(fmt::format("line {} ({})", row.line, row.algorithm));
    if (passed_.size() > kTold)
        lines.push_back(fmt::format("{} more", passed_.size() - kTold));
    return fmt::format(
        "{}: {} passed over, since nothing simulates the algorithm: {}", file_,
        passed_.size() == 1 ? "1 row is" : fmt::format("{} rows are", passed_.size()),
        fmt::join(lines, ", "));
}

const TunerTable::Row* TunerTable::find(
    CollectiveKind kind, std::uint64_t bytes, std::uint32_t machines, std::uint32_t ranks,
    bool registered) const {
    const auto at = std::ranges::find_if(rows_, [&](const Row& row) {
        return row.kind == kind && row.least <= bytes && bytes <= row.most &&
               row.machines.value_or(machines) == machines && row.ranks.value_or(ranks) == ranks &&
               row.registered.value_or(registered) == registered;
    });
    return at == rows_.end() ? nullptr : &*at;
}

}  // namespace switchfold
