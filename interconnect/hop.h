// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace switchfold {

// A hop is one direction of an edge, as a number: 2 * edge, + 1 when it runs from b to a. The
// fabric's links are numbered so.

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
