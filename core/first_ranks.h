// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

namespace switchfold {

/// Ranks 0 to `count` - 1, in order.
[[nodiscard]] inline std::vector<std::uint32_t> first_ranks(std::uint32_t count) {
    std::vector<std::uint32_t> ranks(count);
    std::iota(ranks.begin(), ranks.end(), 0U);
    return ranks;
}

}  // namespace switchfold
