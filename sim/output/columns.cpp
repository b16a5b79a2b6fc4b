// SPDX-License-Identifier: Apache-2.0
#include "sim/output/columns.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

std::string align_columns(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> width(rows.front().size(), 0);
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            width[i] = std::max(width[i], row[i].size());
    std::string out;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i)
            line += i == 0 ? fmt::format("{:<{}}", row[i], width[i])
                           : fmt::format("  {:>{}}", row[i], width[i]);
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    }
    return out;
}

}  // namespace switchfold
