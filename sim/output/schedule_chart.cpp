// SPDX-License-Identifier: Apache-2.0
#include "sim/output/schedule_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <map>
#include <utility>

namespace switchfold {

namespace {

struct Row {
    std::uint32_t rank = 0;
    std::vector<ChartPass> passes;
};

/// \returns the number at the text's start and removes it.
std::optional<std::uint32_t> take_number(std::string_view& text) {
    std::uint32_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc())
        return {};
    text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
    return number;
}

std::string names_of(const Row& row) {
    std::string names;
    for (const ChartPass& pass : row.passes)
        names += to_string(pass.name) + ' ';
    return names;
}

/// Whether two rows of the same passes run each at about the same time: a slow or late rank is not
/// like the others.
bool are_alike(const Row& a, const Row& b, std::uint64_t about) {
    const auto near = [about](std::uint64_t x, std::uint64_t y) {
        return (x > y ? x - y : y - x) <= about;
    };
    return std::equal(
        a.passes.begin(), a.passes.end(), b.passes.begin(), b.passes.end(),
        [&](const ChartPass& x, const ChartPass& y) {
            return near(x.start_ps, y.start_ps) && near(x.end_ps, y.end_ps);
        });
}

/// One representative row of each kind.
std::vector<Row> distinct_rows(const std::vector<ChartPass>& passes, std::uint32_t& alike) {
    constexpr std::uint64_t kAbout = 40;  // part of the step
    std::uint64_t end = 0;
    std::vector<Row> rows;
    for (const ChartPass& pass : passes) {
        end = std::max(end, pass.end_ps);
        if (rows.empty() || rows.back().rank != pass.rank)
            rows.push_back({pass.rank, {}});
        rows.back().passes.push_back(pass);
    }
    std::map<std::string, std::vector<Row>> kinds;
    const auto again = std::remove_if(rows.begin(), rows.end(), [&](const Row& row) {
        std::vector<Row>& before = kinds[names_of(row)];
        if (std::any_of(before.begin(), before.end(), [&](const Row& other) {
                return are_alike(row, other, end / kAbout);
            }))
            return true;
        before.push_back(row);
        return false;
    });
    alike = static_cast<std::uint32_t>(rows.end() - again);
    rows.erase(again, rows.end());
    return rows;
}

/// At most `most` rows, evenly spaced from the first to the last.
std::vector<Row> thinned(std::vector<Row> rows, std::size_t most) {
    if (rows.size() <= most)
        return rows;
    std::vector<Row> kept;
    for (std::size_t i = 0; i < most; ++i)
        kept.push_back(std::move(rows[i * (rows.size() - 1) / std::max<std::size_t>(most - 1, 1)]));
    return kept;
}

void add_bars(const Row& row, ScheduleChart& chart) {
    std::vector<std::uint32_t> stages;
    for (const ChartPass& pass : row.passes)
        stages.push_back(pass.name.stage);
    std::sort(stages.begin(), stages.end());
    stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
    chart.chunks = std::max(chart.chunks, static_cast<std::uint32_t>(stages.size()));
    const std::size_t first = chart.bars.size();
    std::size_t latest = first;  // the bar that ends last among the earlier ones
    for (const ChartPass& pass : row.passes) {
        ScheduleBar bar{pass};
        bar.chunk = static_cast<std::uint32_t>(
            std::lower_bound(stages.begin(), stages.end(), pass.name.stage) - stages.begin());
        if (const std::size_t here = chart.bars.size(); here > first) {
            if (chart.bars[latest].pass.end_ps > pass.start_ps)
                bar.beside = chart.bars[latest].beside = true;
            if (pass.end_ps > chart.bars[latest].pass.end_ps)
                latest = here;
        }
        chart.bars.push_back(std::move(bar));
    }
}

}  // namespace

namespace {

constexpr std::array<std::string_view, 5> kKinds{"F", "BW", "B", "W", "U"};

}  // namespace

bool is_pass_of_a_layer(std::string_view text) {
    const std::size_t digits = std::min(text.find_first_of("0123456789"), text.size());
    const std::string_view kind = text.substr(0, digits);
    text.remove_prefix(digits);
    if (std::find(kKinds.begin(), kKinds.end(), kind) == kKinds.end() || !take_number(text))
        return false;
    if (text.empty())
        return kind == "U";
    const std::string_view layer = text.substr(1);
    return text.front() == '@' && layer.find_first_not_of("0123456789") != std::string_view::npos;
}

std::optional<PassName> parse_pass_name(std::string_view text) {
    const std::size_t digits = std::min(text.find_first_of("0123456789"), text.size());
    PassName name{std::string(text.substr(0, digits))};
    text.remove_prefix(digits);
    const auto micro_batch = take_number(text);
    if (std::find(kKinds.begin(), kKinds.end(), name.kind) == kKinds.end() || !micro_batch ||
        text.empty() || text.front() != '@')
        return {};
    text.remove_prefix(1);
    const auto stage = take_number(text);
    if (!stage || !text.empty())
        return {};
    name.micro_batch = *micro_batch;
    name.stage = *stage;
    return name;
}

std::string to_string(const PassName& name) {
    return fmt::format("{}{}@{}", name.kind, name.micro_batch, name.stage);
}

ScheduleChart
schedule_chart(const std::vector<ChartPass>& passes, const ScheduleChartLimits& limits) {
    ScheduleChart chart;
    std::vector<Row> rows = distinct_rows(passes, chart.alike);
    const std::size_t all = rows.size();
    rows = thinned(std::move(rows), limits.rows);
    chart.others = static_cast<std::uint32_t>(all - rows.size());
    std::uint64_t until = UINT64_MAX;
    for (Row& row : rows) {
        chart.ranks.push_back(row.rank);
        std::stable_sort(
            row.passes.begin(), row.passes.end(),
            [](const ChartPass& a, const ChartPass& b) { return a.start_ps < b.start_ps; });
        if (row.passes.size() > limits.passes)
            until = std::min(until, row.passes[limits.passes].start_ps);
    }
    chart.cut = until != UINT64_MAX;
    for (Row& row : rows) {
        const auto end =
            std::find_if(row.passes.begin(), row.passes.end(), [&](const ChartPass& p) {
                return p.start_ps >= until;
            });
        row.passes.erase(end, row.passes.end());
        add_bars(row, chart);
    }
    return chart;
}

}  // namespace switchfold
