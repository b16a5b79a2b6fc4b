// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>

namespace switchfold {

/// Segments that PyTorch's caching allocator takes from a GPU for tensors that live at one time
/// (c10/cuda/CUDACachingAllocator.cpp). Sizes are multiples of 512 B. Tensors up to 1 MiB share
/// segments of 2 MiB, larger ones below 10 MiB segments of 20 MiB; others have a segment of their
/// own, a multiple of 2 MiB. A request takes the smallest free block that holds it; what is left
/// of the block is free again, of large blocks if it is more than 1 MiB. No tensor ends before the
/// last begins, so holes between tensors of different lifetimes are not counted.
class CachingAllocator {
public:
    void allocate(std::uint64_t bytes);
    [[nodiscard]] std::uint64_t reserved() const { return reserved_; }
    /// Reserved bytes that no tensor uses.
    [[nodiscard]] std::uint64_t lost() const { return reserved_ - requested_; }

private:
    std::multiset<std::uint64_t> small_;  ///< sizes of free blocks
    std::multiset<std::uint64_t> large_;
    std::uint64_t reserved_ = 0;
    std::uint64_t requested_ = 0;
};

}  // namespace switchfold
