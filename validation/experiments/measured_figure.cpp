// SPDX-License-Identifier: Apache-2.0
#include "validation/experiments/measured_figure.h"

#include "core/text_cells.h"
#include "sim/output/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

namespace switchfold::validation {

namespace {

/// Either the collective's, or the step's.
constexpr std::string_view kTime = "time";

/// A unit of columns, and the one of stored figures that it is turned into.
struct FigureUnit {
    std::string_view name;    ///< in a map
    std::string_view suffix;  ///< of a column's name
    std::string_view stored;  ///< suffix of the stored figure
    std::string_view shown;
    double scale;
};
constexpr std::array<FigureUnit, 9> kUnits{
    {{"us", "_us", "_us", "us", 1},
     {"ns", "_ns", "_us", "us", 1e-3},
     {"ms", "_ms", "_us", "us", 1e3},
     {"s", "_s", "_us", "us", 1e6},
     {"GB/s", "_GBps", "_GBps", "GB/s", 1},
     {"MB/s", "_MBps", "_GBps", "GB/s", 1e-3},
     {"GiB", "_gib", "_gib", "GiB", 1},
     {"GB", "_gb", "_gib", "GiB", 1e9 / (1ULL << 30U)},
     {"MiB", "_mib", "_gib", "GiB", 1.0 / 1024}}};

const std::vector<RecordColumn>& stored_columns() {
    static const std::vector<RecordColumn> kStored = record_columns();
    return kStored;
}

bool is_stored(std::string_view key) {
    return std::ranges::any_of(stored_columns(), [&](const RecordColumn& column) {
        return column.name == key && column.type == "REAL";
    });
}

std::string without_underscores(std::string_view word) {
    std::string text(word);
    std::ranges::replace(text, '_', ' ');
    return text;
}

/// The stored figures' names, without units.
std::vector<std::string> known_words() {
    std::vector<std::string> words{std::string(kTime)};
    for (const RecordColumn& column : stored_columns()) {
        if (column.type != "REAL" || column.name.find("cause_") != std::string::npos)
            continue;
        std::string word = column.name;
        for (const FigureUnit& unit : kUnits)
            if (unit.suffix == unit.stored && word.ends_with(unit.suffix)) {
                word.resize(word.size() - unit.suffix.size());
                break;
            }
        if (std::ranges::find(words, word) == words.end())
            words.push_back(std::move(word));
    }
    return words;
}

/// The figure of a name and a unit; empty key if there is none.
MeasuredFigure in_unit(std::string_view base, const FigureUnit& unit) {
    const bool time = base == kTime && unit.stored == "_us";
    const std::string key = time ? std::string(base) : fmt::format("{}{}", base, unit.stored);
    if (!time && !is_stored(key))
        return {};
    return {key, without_underscores(base), std::string(unit.shown), unit.scale};
}

/// Whether the word ends in a unit that its figure has.
bool names_unit(std::string_view word) {
    return std::ranges::any_of(kUnits, [&](const FigureUnit& unit) {
        return word.ends_with(unit.suffix) &&
               !in_unit(word.substr(0, word.size() - unit.suffix.size()), unit).key.empty();
    });
}

bool has_units(std::string_view base) {
    return std::ranges::any_of(
        kUnits, [&](const FigureUnit& unit) { return !in_unit(base, unit).key.empty(); });
}

}  // namespace

MeasuredFigure measured_figure(std::string_view word, std::string_view unit) {
    if (unit == kUnitOfCells && has_units(word))
        for (const FigureUnit& one : kUnits)
            if (MeasuredFigure figure = in_unit(word, one); !figure.key.empty()) {
                figure.scale = 0;
                return figure;
            }
    for (const FigureUnit& one : kUnits) {
        MeasuredFigure figure;
        if (unit.empty() && word.ends_with(one.suffix))
            figure = in_unit(word.substr(0, word.size() - one.suffix.size()), one);
        else if (unit == one.name)
            figure = in_unit(word, one);
        if (!figure.key.empty())
            return figure;
    }
    if (has_units(word)) {
        std::vector<std::string> able;
        for (const FigureUnit& one : kUnits)
            if (!in_unit(word, one).key.empty())
                able.push_back(
                    unit.empty() ? fmt::format("{}{}", word, one.suffix) : std::string(one.name));
        throw std::invalid_argument(
            unit.empty()
                ? fmt::format("states no unit; expected one of: {}", fmt::join(able, ", "))
                : fmt::format("is in \"{}\"; expected one of: {}", unit, fmt::join(able, ", ")));
    }
    // Counts, shares, factors.
    const bool plain = unit.empty() || unit == "1" || unit == "TFLOP/s";
    if (plain && is_stored(word))
        return {
            std::string(word), without_underscores(word), unit.empty() ? "1" : std::string(unit),
            1};
    const std::vector<std::string> words = known_words();
    const std::vector<std::string_view> views(words.begin(), words.end());
    throw std::invalid_argument(fmt::format(
        "names no figure of a result{}; expected one of: {}", did_you_mean(word, views),
        fmt::join(words, ", ")));
}

bool states_no_unit(std::string_view word) {
    return has_units(word) && !names_unit(word);
}

double measured_number(const MeasuredFigure& figure, std::string_view cell) {
    const std::size_t end = std::min(cell.find_first_not_of("0123456789.eE+-"), cell.size());
    // "5e9" is a number, "5 s" one with its unit.
    std::string_view digits = cell.substr(0, end);
    while (digits.ends_with('e') || digits.ends_with('E'))
        digits.remove_suffix(1);
    std::string_view unit = cell.substr(digits.size());
    unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
    const std::optional<double> number = parse_decimal(digits);
    const bool plain = unit.empty() && figure.scale != 0;
    if (number && plain)
        return *number * figure.scale;
    std::vector<std::string_view> able;
    for (const FigureUnit& one : kUnits) {
        if (one.shown != figure.unit)
            continue;
        if (number && (unit == one.name || (unit == "\u00b5s" && one.name == "us")))
            return *number * one.scale;
        able.push_back(one.name);
    }
    throw std::invalid_argument(
        able.empty() ? "expected a number"
                     : fmt::format(
                           "expected {}{}", figure.scale == 0 ? "" : "a number, or ",
                           fmt::format("one with its unit: {}", fmt::join(able, ", "))));
}

std::optional<double> value_of(const MeasuredFigure& figure, const RecordedScenario& scenario) {
    if (figure.key == kTime)
        return scenario.collective ? scenario.collective->time_us : scenario.iteration_us;
    for (const RecordColumn& column : stored_columns())
        if (column.name == figure.key) {
            const Json value = column.get(scenario);
            return value.is_null() ? std::nullopt : std::optional(value.get<double>());
        }
    return std::nullopt;
}

bool is_of_step(const MeasuredFigure& figure) {
    static constexpr std::array<std::string_view, 4> kSteps{
        kTime, "iteration_us", "samples_per_s", "tflops_per_gpu"};
    return std::ranges::find(kSteps, figure.key) != kSteps.end();
}

bool is_of_one_scenario(const MeasuredFigure& figure) {
    static constexpr std::array<std::string_view, 8> kAlone{
        kTime,          "time_us",       "algorithm_bandwidth_GBps", "bus_bandwidth_GBps",
        "iteration_us", "samples_per_s", "tflops_per_gpu",           "peak_memory_gib"};
    return std::ranges::find(kAlone, figure.key) != kAlone.end();
}

}  // namespace switchfold::validation
