// SPDX-License-Identifier: Apache-2.0
#include "validation/experiments/row_values.h"

#include "core/error.h"
#include "core/text_cells.h"
#include "sim/config/pointers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace switchfold::validation {

namespace {

/// A cell as JSON: a number, a word of JSON, or a text. Plain numbers get the column's unit.
Json json_of_cell(const std::string& cell, const std::string& unit) {
    const std::optional<double> number = plain_number(cell);
    if (number && !unit.empty())
        return fmt::format("{} {}", cell, unit);
    if (number) {
        // Counts do not accept 8.0.
        constexpr double kExact = 1LL << 53U;
        if (*number > -kExact && *number < kExact) {
            const auto whole = static_cast<std::int64_t>(*number);
            if (static_cast<double>(whole) == *number)
                return whole;
        }
        return *number;
    }
    if (cell == "true" || cell == "false")
        return cell == "true";
    return cell;
}

Json word_of_cell(const MapColumn& column, const CsvRecord& record) {
    const std::string& cell = record[column.column];
    if (const auto* const word = word_of(column.words, cell))
        return word->second.json;
    if (!column.otherwise.empty())
        throw RowProblem{filled(column.otherwise, record)};
    std::vector<std::string_view> known;
    for (const auto& [word, value] : column.words)
        known.push_back(word);
    throw RowProblem{fmt::format(
        "{} is \"{}\"{}; expected one of: {}", column.column, cell, did_you_mean(cell, known),
        fmt::join(known, ", "))};
}

/// The digits that end where a text begins in the cell; null if there are none.
Json number_before(std::string_view text, std::string_view cell) {
    const std::string_view before = cell.substr(0, std::min(cell.find(text), cell.size()));
    const std::size_t other = before.find_last_not_of("0123456789");
    const std::string_view digits = before.substr(other == std::string_view::npos ? 0 : other + 1);
    if (before.size() == cell.size() || digits.empty())
        return nullptr;
    return json_of_cell(std::string(digits), "");
}

Json value_of_cell(
    const MapColumn& column, const CsvRecord& record, const NamedPlaces& places,
    const std::filesystem::path& table) {
    if (!column.words.empty())
        return word_of_cell(column, record);
    const std::string& cell = record[column.column];
    if (!column.number_before.empty())
        return number_before(column.number_before, cell);
    Json value = json_of_cell(cell, column.unit);
    if (column.pointer == "/system" && value.is_string())
        try {
            return places.system(cell, table);
        } catch (const ConfigError& wrong) {
            throw RowProblem{wrong.problems().front().message};
        }
    return value;
}

}  // namespace

void RowValues::set(const std::string& pointer, const Json& value, std::string from) {
    values_[pointer] = {value, std::move(from)};
}

const Json* RowValues::find(const std::string& pointer) const {
    const auto at = values_.find(pointer);
    return at == values_.end() ? nullptr : &at->second.value;
}

std::vector<Override> RowValues::overrides() const {
    std::vector<Override> all;
    for (const auto& [pointer, value] : values_)
        all.push_back({pointer, value.value});
    order_overrides(all);
    return all;
}

std::string RowValues::from_near(std::string_view pointer) const {
    std::string found;
    for (const auto& [own, value] : values_)
        if (related(pointer, own))
            found = value.from;
    return found.empty() ? std::string(pointer) : found;
}

std::string why_left_out(const TableMap& map, const CsvRecord& record) {
    for (const MapRule& rule : map.rules)
        if (!rule.leave_out.empty() && fits_row(rule.when, record))
            return filled(rule.leave_out, record);
    return {};
}

void set_mapped(
    const TableMap& map, const CsvRecord& record, const NamedPlaces& places,
    const std::filesystem::path& table, RowValues& values) {
    for (const MapColumn& column : map.columns)
        if ((!record[column.column].empty() || !column.otherwise.empty()) &&
            fits_row(column.when, record))
            if (const Json value = value_of_cell(column, record, places, table); !value.is_null())
                values.set(
                    filled(column.pointer, record), places.placed(value),
                    "column " + column.column);
    for (std::size_t i = 0; i < map.rules.size(); ++i) {
        const MapRule& rule = map.rules[i];
        if (!fits_row(rule.when, record))
            continue;
        for (const auto& [pointer, value] : rule.set)
            values.set(
                pointer, places.placed(value.json), fmt::format("rule {} of the map", i + 1));
    }
}

std::string filled(std::string_view text, const CsvRecord& record, bool* lacks) {
    std::string out;
    for (;;) {
        const std::size_t open = text.find('{');
        const std::size_t close = text.find('}', std::min(open, text.size()));
        if (close == std::string_view::npos)
            return out.append(text);
        std::string_view name = text.substr(open + 1, close - open - 1);
        const bool to_comma = name.ends_with(',');
        if (to_comma)
            name.remove_suffix(1);
        const std::string& cell = record[name];
        if (lacks != nullptr && cell.empty())
            *lacks = true;
        out.append(text.substr(0, open)).append(cell, 0, to_comma ? cell.find(',') : cell.npos);
        text.remove_prefix(close + 1);
    }
}

bool fits_row(const std::map<std::string, std::string>& when, const CsvRecord& record) {
    return std::ranges::all_of(when, [&](const auto& condition) {
        return meets(condition.second, record[condition.first]);
    });
}

}  // namespace switchfold::validation
