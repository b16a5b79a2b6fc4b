// SPDX-License-Identifier: Apache-2.0
#include "core/statistics.h"

#include <fmt/format.h>

namespace switchfold {

std::string_view to_string(Unit unit) {
    switch (unit) {
    case Unit::kBytes:
        return "bytes";
    case Unit::kMicroseconds:
        return "us";
    case Unit::kShare:
        return "share";
    case Unit::kFactor:
        return "factor";
    case Unit::kCount:
        break;
    }
    return "count";
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
