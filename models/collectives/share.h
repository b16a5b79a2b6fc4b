// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace switchfold {

/// Bytes of one rank's share of a buffer: whole elements, equal for every rank.
[[nodiscard]] constexpr std::uint64_t
share_of(std::uint64_t bytes, std::uint32_t ranks, std::uint32_t element_bytes) {
    return bytes / ranks / element_bytes * element_bytes;
}

}  // namespace switchfold
