// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params_cursor.h"
#include "core/params_schema.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// A list of ranks in a file: a number, "0-3,8" or an array of numbers.
struct RankList {
    std::vector<std::uint32_t> ranks;  ///< in the order written
};
void read_value(const Cursor& c, RankList& out);
/// Written as an array.
[[nodiscard]] OrderedJson write_value(const RankList& value);
template <>
struct SchemaOf<RankList> {
    static OrderedJson make();
};

}  // namespace switchfold
