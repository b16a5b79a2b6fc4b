// SPDX-License-Identifier: Apache-2.0
#include "training/memory/accounting/caching_allocator.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace switchfold::caching_allocator_test {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;

std::uint64_t reserved(const std::vector<std::uint64_t>& tensors) {
    CachingAllocator allocator;
    for (const std::uint64_t bytes : tensors)
        allocator.allocate(bytes);
    return allocator.reserved();
}

TEST(CachingAllocator, SegmentsHaveTheSizesOfPyTorch) {
    EXPECT_EQ(reserved({}), 0U);
    EXPECT_EQ(reserved({0}), 0U) << "a tensor of nothing";
    EXPECT_EQ(reserved({1}), 2 * kMiB);
    EXPECT_EQ(reserved({kMiB}), 2 * kMiB);
    EXPECT_EQ(reserved({kMiB + 1}), 20 * kMiB);
    EXPECT_EQ(reserved({10 * kMiB - 512}), 20 * kMiB);
    EXPECT_EQ(reserved({10 * kMiB}), 10 * kMiB);
    EXPECT_EQ(reserved({10 * kMiB + 1}), 12 * kMiB);
    EXPECT_EQ(reserved({1001 * kMiB}), 1002 * kMiB);
}

TEST(CachingAllocator, TensorsShareSegments) {
    EXPECT_EQ(reserved({kMiB, kMiB}), 2 * kMiB);
    EXPECT_EQ(reserved({kMiB, kMiB, 512}), 4 * kMiB);
    EXPECT_EQ(reserved(std::vector<std::uint64_t>(4096, 512)), 2 * kMiB);
    EXPECT_EQ(reserved(std::vector<std::uint64_t>(4096, 513)), 4 * kMiB) << "a block is 512 B";
    EXPECT_EQ(reserved({8 * kMiB, 8 * kMiB, 4 * kMiB}), 20 * kMiB);
    EXPECT_EQ(reserved({8 * kMiB, 8 * kMiB, 8 * kMiB}), 40 * kMiB);
    // What is left of a large block is free for others only if it is more than 1 MiB.
    EXPECT_EQ(reserved({11 * kMiB - 512, kMiB + 512}), 12 * kMiB);
    EXPECT_EQ(reserved({11 * kMiB, kMiB + 512}), 32 * kMiB);
}

RC_GTEST_PROP(CachingAllocatorProperty, NothingIsSharedTwiceAndLittleIsLost, ()) {
    const auto tensors = *rc::gen::container<std::vector<std::uint64_t>>(
        rc::gen::inRange<std::uint64_t>(1, 64 * kMiB));
    CachingAllocator allocator;
    std::uint64_t sum = 0;
    for (const std::uint64_t bytes : tensors) {
        const std::uint64_t before = allocator.reserved();
        allocator.allocate(bytes);
        sum += bytes;
        RC_ASSERT(allocator.reserved() >= before);
        RC_ASSERT(allocator.reserved() - before <= std::max(bytes + 2 * kMiB, 20 * kMiB));
        RC_ASSERT(allocator.reserved() >= sum);
        RC_ASSERT(allocator.lost() == allocator.reserved() - sum);
    }
}

}  // namespace
}  // namespace switchfold::caching_allocator_test
