// SPDX-License-Identifier: Apache-2.0
#include "training/plan/division/step_table.h"

#include "core/csv_reader.h"
#include "core/error.h"
#include "core/text_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace switchfold {

namespace {

constexpr std::uint32_t kMostSamples = 1U << 20U;

class StepTableReader {
public:
    StepTableReader(std::string_view text, const std::string& label) :
        reader_(text, CsvReader::Cells::kTrimmed), label_(label) {}

    StepTable run() {
        read_header();
        std::vector<std::string> cells;
        while (reader_.next(cells)) {
            line_ = reader_.line();
            read_line(cells);
        }
        line_ = 1;
        if (table_.empty() && problems_.empty())
            fail("is followed by no step time; expected at least one");
        stop_if_wrong();
        return std::move(table_);
    }

private:
    void fail(std::string what) {
        problems_.push_back({label_, fmt::format("line {}", line_), std::move(what)});
    }
    void stop_if_wrong() {
        if (!problems_.empty())
            throw ConfigError(std::move(problems_));
    }
    void read_header() {
        std::vector<std::string> header;
        reader_.next(header);
        columns_ = header.size();
        constexpr std::array<std::string_view, 3> kNames{"gpu", "batch", "seconds"};
        for (std::size_t i = 0; i < kNames.size(); ++i) {
            const auto found = std::find(header.begin(), header.end(), kNames[i]);
            at_[i] = static_cast<std::size_t>(found - header.begin());
            if (found == header.end())
                fail(fmt::format(
                    "has no column {}; expected the columns gpu, batch, seconds", kNames[i]));
        }
        stop_if_wrong();
    }
    void read_line(const std::vector<std::string>& cells) {
        if (cells.size() != columns_) {
            fail(fmt::format("has {} cells; expected {}", cells.size(), columns_));
            return;
        }
        const std::string& gpu = cells[at_[0]];
        const std::uint64_t batch = parse_count(cells[at_[1]]).value_or(0);
        const double seconds = parse_decimal(cells[at_[2]]).value_or(0);
        if (gpu.empty())
            fail("names no gpu; expected one");
        if (batch == 0 || batch > kMostSamples)
            fail(fmt::format(
                "batch is \"{}\"; expected a whole number from 1 to {}", cells[at_[1]],
                kMostSamples));
        constexpr double kMost = 1e6;
        if (!(seconds > 0) || !(seconds < kMost))
            fail(fmt::format(
                "seconds is \"{}\"; expected a number above 0 and below 1e6", cells[at_[2]]));
        if (!table_[gpu].emplace(static_cast<std::uint32_t>(batch), seconds).second)
            fail(fmt::format("has batch {} of {} again; expected each once", batch, gpu));
    }

    CsvReader reader_;
    const std::string& label_;
    std::array<std::size_t, 3> at_{};
    std::size_t columns_ = 0;
    std::size_t line_ = 1;
    StepTable table_;
    std::vector<Problem> problems_;
};

}  // namespace

StepTable parse_step_table(std::string_view text, const std::string& label) {
    return StepTableReader(text, label).run();
}

StepTable read_step_table(const std::filesystem::path& path) {
    return parse_step_table(read_text(path), path.string());
}

std::vector<double> seconds_by_samples(const MeasuredSteps& steps) {
    std::vector<double> out(std::size_t{steps.rbegin()->first} + 1, 0);
    for (std::uint32_t b = 1; b < out.size(); ++b) {
        const auto above = steps.lower_bound(b);
        out[b] = above->second;
        if (above->first == b || above == steps.begin())
            continue;
        const auto below = std::prev(above);
        const double share = static_cast<double>(b - below->first) / (above->first - below->first);
        out[b] = below->second + share * (above->second - below->second);
    }
    return out;
}

}  // namespace switchfold
