// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// A process group as PyTorch lists it: {"pg_name": "1", "ranks": [0, 2], "pg_size": 2, ...}.
struct ListedGroup {
    std::string name;
    std::vector<std::uint32_t> ranks;  ///< ascending, each once
    bool whole = true;                 ///< no rank is missing, as far as the entry tells
};

/// Nothing if the entry is no such group. Ranks from `most` on count as missing.
[[nodiscard]] std::optional<ListedGroup> listed_group(const Json& entry, std::uint64_t most);

}  // namespace switchfold
