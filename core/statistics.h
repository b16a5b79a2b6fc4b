// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error.h"
#include "core/field_list.h"
#include "core/units.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace switchfold {

enum class Unit : std::uint8_t { kCount, kBytes, kMicroseconds, kShare, kFactor };
[[nodiscard]] std::string_view to_string(Unit unit);

/// One number that a component measures: its key in the results, member, unit and meaning. A
/// statistics struct lists its members once, in `static constexpr auto statistics()`; result.json,
/// its reader and the manual's tables are derived from that list.
template <class Owner, class T>
struct Statistic {
    std::string_view name;
    T Owner::*member;
    Unit unit;
    std::string_view meaning;
    bool peak = false;  ///< the largest value so far; otherwise a sum that grows
};

/// A Time must be reported in microseconds, and nothing else may be.
template <class Owner, class T>
constexpr Statistic<Owner, T> checked(const Statistic<Owner, T>& statistic) {
    if (std::is_same_v<T, Time> != (statistic.unit == Unit::kMicroseconds))
        throw std::logic_error("a time is in microseconds");
    return statistic;
}
// clang 14 lets no consteval function call another: both check by themselves.
template <class Owner, class T>
consteval Statistic<Owner, T>
statistic(std::string_view name, T Owner::*member, Unit unit, std::string_view meaning) {
    return checked(Statistic<Owner, T>{name, member, unit, meaning, false});
}
template <class Owner, class T>
consteval Statistic<Owner, T>
peak_statistic(std::string_view name, T Owner::*member, Unit unit, std::string_view meaning) {
    return checked(Statistic<Owner, T>{name, member, unit, meaning, true});
}

template <class S>
concept HasStatistics = requires {
    S::statistics();
};

/// Converts a statistic to a double: counts up to 2^53 (exact), times (microseconds), shares.
inline double statistic_value(Time time) {
    return to_microseconds(time);
}
template <class T>
requires std::is_arithmetic_v<T>
double statistic_value(T value) {
    return static_cast<double>(value);
}

/// Statistics of all components of one kind: columns as declared, one row per component.
struct StatisticTable {
    struct Column {
        std::string name;
        Unit unit = Unit::kCount;
        std::string meaning;
        bool operator==(const Column&) const = default;
    };
    struct Row {
        std::string name;
        std::vector<double> values;  ///< one per column
        bool operator==(const Row&) const = default;
    };
    std::string kind;   ///< plural, the key in the results: "links"
    std::string about;  ///< a sentence: what such a component is, and what its name is made of
    std::vector<Column> columns;
    std::vector<Row> rows;
    bool operator==(const StatisticTable&) const = default;

    /// An empty table with the columns that the structs declare, in order.
    template <HasStatistics... S>
    [[nodiscard]] static StatisticTable of(std::string kind, std::string about) {
        StatisticTable table;
        table.kind = std::move(kind);
        table.about = std::move(about);
        const auto column = [&](const auto& s) {
            table.columns.push_back({std::string(s.name), s.unit, std::string(s.meaning)});
        };
        (for_each_of(S::statistics(), column), ...);
        return table;
    }

    /// The number of a column. Throws InternalError if the table has none of the name.
    [[nodiscard]] std::size_t column(std::string_view name) const;

    /// Adds a component's row. A component that did nothing (all zeros) is left out.
    template <HasStatistics... S>
    void add(std::string name, const S&... parts) {
        Row row{std::move(name), {}};
        const auto append = [&](const auto& part) {
            for_each_of(std::remove_cvref_t<decltype(part)>::statistics(), [&](const auto& s) {
                row.values.push_back(statistic_value(part.*(s.member)));
            });
        };
        (append(parts), ...);
        SWITCHFOLD_CHECK(row.values.size() == columns.size(), "statistics of another kind");
        if (std::any_of(row.values.begin(), row.values.end(), [](double v) { return v != 0; }))
            rows.push_back(std::move(row));
    }
};

/// The table of a kind among those of a run; null: there is none.
[[nodiscard]] const StatisticTable*
find_table(const std::vector<StatisticTable>& tables, std::string_view kind);

/// A section of the manual, in Markdown: columns with unit and meaning.
[[nodiscard]] std::string docs_of(const StatisticTable& table);

}  // namespace switchfold
