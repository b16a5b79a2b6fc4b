// SPDX-License-Identifier: Apache-2.0
#include "training/memory/accounting/caching_allocator.h"

namespace switchfold {

namespace {

constexpr std::uint64_t kMiB = 1ULL << 20U;
constexpr std::uint64_t kBlock = 512;               // kMinBlockSize
constexpr std::uint64_t kLargestSmall = kMiB;       // kSmallSize
constexpr std::uint64_t kSmallSegment = 2 * kMiB;   // kSmallBuffer
constexpr std::uint64_t kLargeSegment = 20 * kMiB;  // kLargeBuffer
constexpr std::uint64_t kOwnSegment = 10 * kMiB;    // kMinLargeAlloc
constexpr std::uint64_t kOwnMultiple = 2 * kMiB;    // kRoundLarge

constexpr std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t multiple) {
    return (bytes + multiple - 1) / multiple * multiple;
}

constexpr std::uint64_t segment_of(std::uint64_t block) {
    if (block <= kLargestSmall)
        return kSmallSegment;
    return block < kOwnSegment ? kLargeSegment : rounded_up(block, kOwnMultiple);
}

}  // namespace

void CachingAllocator::allocate(std::uint64_t bytes) {
    if (bytes == 0)
        return;
    requested_ += bytes;
    const std::uint64_t block = rounded_up(bytes, kBlock);
    const bool is_small = block <= kLargestSmall;
    std::multiset<std::uint64_t>& free = is_small ? small_ : large_;
    std::uint64_t taken = 0;
    if (const auto found = free.lower_bound(block); found != free.end()) {
        taken = *found;
        free.erase(found);
    } else {
        taken = segment_of(block);
        reserved_ += taken;
    }
    const std::uint64_t rest = taken - block;
    if (is_small ? rest >= kBlock : rest > kLargestSmall)
        free.insert(rest);
}

}  // namespace switchfold
