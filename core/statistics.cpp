// SPDX-License-Identifier: Apache-2.0
#include "core/statistics.h"

#include "core/statistics_record.h"

#include <fmt/format.h>

namespace switchfold {

std::string_view to_string(Unit unit) {
    return enum_name(unit);
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
