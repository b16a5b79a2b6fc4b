// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace switchfold {

/// The largest world that a trace may state.
inline constexpr std::uint32_t kMostTracedRanks = 65'536;
/// The most bytes of one operation: far above any tensor of a real GPU.
inline constexpr std::uint64_t kMostTracedBytes = 1ULL << 48U;
/// The largest whole number that every JSON writer keeps.
inline constexpr std::uint64_t kMostJsonNumber = 1ULL << 53U;

}  // namespace switchfold
