// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace switchfold {

/// Prefetches the cache lines of `bytes` bytes from `begin` on. The address need not be valid. A
/// machine of a thousand GPUs exceeds the caches, so simulating it is bound by memory latency.
inline void prefetch(const void* begin, std::size_t bytes = 1) {
    constexpr std::size_t kLine = 64;
    const auto* first = static_cast<const std::byte*>(begin);
    for (std::size_t at = 0; at < bytes; at += kLine)
        __builtin_prefetch(first + at);
    if (bytes > 1)
        __builtin_prefetch(first + bytes - 1);
}

}  // namespace switchfold
