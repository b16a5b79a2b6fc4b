// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace switchfold {

/// Asks for the cache lines of `bytes` bytes from `begin` on, without waiting for them. The address
/// need not be valid. Machines of a thousand GPUs do not fit the caches, and most of the time of
/// simulating one is waiting for memory.
inline void prefetch(const void* begin, std::size_t bytes = 1) {
    constexpr std::size_t kLine = 64;
    const auto* first = static_cast<const std::byte*>(begin);
    for (std::size_t at = 0; at < bytes; at += kLine)
        __builtin_prefetch(first + at);
    if (bytes > 1)
        __builtin_prefetch(first + bytes - 1);
}

}  // namespace switchfold
