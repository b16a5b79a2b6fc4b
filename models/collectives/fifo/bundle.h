// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace switchfold {

/// Number of channels that are simulated as one, at their combined rate, because their chunks
/// together fit one transfer unit: what they send to the same peer at the same time travels as one
/// train of packets anyway. Only channels of the same order: each of `orders` keeps its number.
[[nodiscard]] inline std::uint32_t
bundle_of(std::size_t orders, std::uint32_t channels, std::uint64_t chunk, std::uint64_t unit) {
    std::uint32_t bundle = 1;
    for (std::uint32_t k = 2; k * orders <= channels; ++k)
        if (channels % (k * orders) == 0 && k * chunk <= unit)
            bundle = k;
    return bundle;
}

}  // namespace switchfold
