// SPDX-License-Identifier: Apache-2.0
#include "validation/experiments/table_map.h"

#include "core/error.h"
#include "validation/experiments/measured_figure.h"
#include "validation/harness/judging.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <system_error>

namespace switchfold::validation {

namespace {

constexpr std::string_view kMeasured = "measured/";

/// "/workload/size (B)" sets /workload/size with that unit.
MapColumn pointer_column(const std::string& header) {
    MapColumn column;
    column.column = header;
    const std::size_t open = header.find(" (");
    const bool with_unit = open != std::string::npos && header.ends_with(')');
    column.pointer = with_unit ? header.substr(0, open) : header;
    if (with_unit)
        column.unit = header.substr(open + 2, header.size() - open - 3);
    return column;
}

/// "<8" and ">8" of numbers, else texts.
bool meets_one(std::string_view condition, std::string_view cell) {
    if (!condition.starts_with('<') && !condition.starts_with('>'))
        return fits(condition, cell);
    const auto bound = plain_number(condition.substr(1));
    const auto number = plain_number(cell);
    if (!bound || !number)
        return false;
    return condition.front() == '<' ? *number < *bound : *number > *bound;
}

}  // namespace

void add_named_columns(const CsvTable& table, const std::string& label, TableMap& map) {
    std::vector<Problem> problems;
    for (const std::string& header : table.columns) {
        if (header.starts_with('/'))
            map.columns.push_back(pointer_column(header));
        if (!header.starts_with(kMeasured) || header.ends_with("/low") || header.ends_with("/high"))
            continue;
        const std::string figure = header.substr(kMeasured.size());
        std::string unit;
        try {
            unit = states_no_unit(figure) ? kUnitOfCells : "";
            static_cast<void>(measured_figure(figure, unit));
        } catch (const std::invalid_argument& wrong) {
            problems.push_back(
                {label, "line 1", fmt::format("the column {} {}", header, wrong.what())});
            continue;
        }
        const auto end = [&](const char* which) {
            return table.has(header + which) ? header + which : std::string();
        };
        MapMeasured& measured = map.measured.emplace_back();
        measured.column = header;
        measured.figure = figure;
        measured.unit = unit;
        measured.low = end("/low");
        measured.high = end("/high");
    }
    if (!problems.empty())
        throw ConfigError(std::move(problems));
}

bool meets(std::string_view condition, std::string_view cell) {
    const bool none = condition.starts_with('!');
    if (none)
        condition.remove_prefix(1);
    for (;;) {
        const std::size_t bar = std::min(condition.find('|'), condition.size());
        if (meets_one(condition.substr(0, bar), cell))
            return !none;
        if (bar == condition.size())
            return none;
        condition.remove_prefix(bar + 1);
    }
}

std::optional<double> plain_number(std::string_view cell) {
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size())
        return std::nullopt;
    return value;
}

}  // namespace switchfold::validation
