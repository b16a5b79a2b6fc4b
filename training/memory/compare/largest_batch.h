// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace switchfold {

/// The largest batch up to `most` that fits; 0: none. \pre what fits a batch fits smaller ones.
template <class Fits>
[[nodiscard]] std::uint32_t largest_batch(std::uint32_t most, Fits fits) {
    std::uint32_t fit = 0;
    std::uint32_t not_fit = most + 1;
    while (fit + 1 < not_fit) {
        const std::uint32_t middle = fit + (not_fit - fit) / 2;
        (fits(middle) ? fit : not_fit) = middle;
    }
    return fit;
}

}  // namespace switchfold
