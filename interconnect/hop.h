// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace switchfold {

// A hop is a direction of an edge, encoded as a number: 2 * edge, + 1 for the direction from b to
// a. The fabric numbers its links in the same way.

[[nodiscard]] constexpr std::uint32_t hop_from_a(std::uint32_t edge) {
    return 2 * edge;
}
[[nodiscard]] constexpr std::uint32_t hop_from_b(std::uint32_t edge) {
    return 2 * edge + 1;
}
[[nodiscard]] constexpr std::uint32_t edge_of(std::uint32_t hop) {
    return hop / 2;
}
[[nodiscard]] constexpr std::uint32_t reversed(std::uint32_t hop) {
    return hop ^ 1U;
}
[[nodiscard]] constexpr bool runs_from_b(std::uint32_t hop) {
    return (hop & 1U) != 0;
}

}  // namespace switchfold
