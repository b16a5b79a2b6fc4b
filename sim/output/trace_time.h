// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace switchfold {

/// As trace events say times: microseconds with six decimals, exactly.
[[nodiscard]] inline std::string trace_us(std::uint64_t ps) {
    return fmt::format("{}.{:06}", ps / 1'000'000, ps % 1'000'000);
}

}  // namespace switchfold
