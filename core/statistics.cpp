// SPDX-License-Identifier: Apache-2.0
#include "core/statistics.h"

#include "core/statistics_record.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

std::string_view to_string(Unit unit) {
    return enum_name(unit);
}

std::size_t StatisticTable::column(std::string_view name) const {
    const auto found = std::ranges::find(columns, name, &Column::name);
    SWITCHFOLD_CHECK(found != columns.end(), "{} have no {}", kind, name);
    return static_cast<std::size_t>(found - columns.begin());
}

const StatisticTable* find_table(const std::vector<StatisticTable>& tables, std::string_view kind) {
    const auto found = std::ranges::find(tables, kind, &StatisticTable::kind);
    return found == tables.end() ? nullptr : &*found;
}

std::string docs_of(const StatisticTable& table) {
    std::string out = fmt::format("## {}\n\n{}\n\n", table.kind, table.about);
    out += "| name | unit | meaning |\n|---|---|---|\n";
    for (const StatisticTable::Column& column : table.columns)
        out += fmt::format(
            "| `{}` | {} | {} |\n", column.name, to_string(column.unit), column.meaning);
    return out;
}

}  // namespace switchfold
