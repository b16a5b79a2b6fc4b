// SPDX-License-Identifier: Apache-2.0
#include "interconnect/values.h"

#include "core/error.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace switchfold::values_test {
namespace {

TEST(RoundTo, HalfMatchesKnownValues) {
    EXPECT_EQ(round_to(ElementType::kFloat16, 1.0F), 1.0F);
    EXPECT_EQ(round_to(ElementType::kFloat16, 65504.0F), 65504.0F);
    EXPECT_TRUE(std::isinf(round_to(ElementType::kFloat16, 65520.0F)));
    EXPECT_EQ(round_to(ElementType::kFloat16, 65519.0F), 65504.0F);
    EXPECT_EQ(round_to(ElementType::kFloat16, 1.0F + 0x1p-11F), 1.0F);                // tie to even
    EXPECT_EQ(round_to(ElementType::kFloat16, 1.0F + 3 * 0x1p-11F), 1.0F + 0x1p-9F);  // tie to even
    EXPECT_EQ(round_to(ElementType::kFloat16, 0x1p-24F), 0x1p-24F);
    EXPECT_EQ(round_to(ElementType::kFloat16, 0x1p-26F), 0.0F);
    EXPECT_EQ(round_to(ElementType::kFloat16, -3.14159F), -3.140625F);
}

#ifdef __FLT16_MANT_DIG__
TEST(RoundTo, HalfMatchesTheCompilerBitByBit) {
    // Every 997th float32 bit pattern: about four million values that cover every exponent.
    for (std::uint64_t bits = 0; bits <= UINT32_MAX; bits += 997) {
        const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        if (std::isnan(value))
            continue;
        const auto expected = static_cast<float>(static_cast<_Float16>(value));
        ASSERT_EQ(
            std::bit_cast<std::uint32_t>(round_to(ElementType::kFloat16, value)),
            std::bit_cast<std::uint32_t>(expected))
            << value;
    }
}
#endif

TEST(RoundTo, Bfloat16KeepsSevenBits) {
    EXPECT_EQ(round_to(ElementType::kBfloat16, 1.0F + 0x1p-8F), 1.0F);
    EXPECT_EQ(round_to(ElementType::kBfloat16, 1.0F + 3 * 0x1p-8F), 1.0F + 0x1p-6F);
    EXPECT_EQ(round_to(ElementType::kBfloat16, 3.14159F), 3.140625F);
}

TEST(ValuePool, CountsSharesAndNoticesMisuse) {
    ValuePool pool;
    const std::uint32_t handle = pool.put({1, 2, 3});
    pool.share(handle);
    pool.drop(handle);
    EXPECT_EQ(pool.live(), 1U);
    EXPECT_EQ(pool.get(handle).size(), 3U);
    pool.drop(handle);
    EXPECT_EQ(pool.live(), 0U);
    EXPECT_THROW(pool.drop(handle), InternalError);
    EXPECT_THROW(static_cast<void>(pool.get(handle)), InternalError);
}

TEST(Fold, AWideAccumulatorRoundsOnceAndANarrowOneEachTime) {
    ValuePool pool;
    const auto sum = [&](Accumulation accumulation, bool whole) {
        const std::vector<std::uint32_t> operands{
            pool.put({2048.0F}), pool.put({1.0F}), pool.put({1.0F}), pool.put({1.0F})};
        const std::uint32_t handle =
            fold(pool, operands, ElementType::kFloat16, accumulation, whole);
        const float value = pool.get(handle)[0];
        pool.drop(handle);
        return value;
    };
    // In float16, 2048 + 1 stays 2048. In float32 the sum is 2051, a tie that rounds to 2052.
    EXPECT_EQ(sum(Accumulation::kElement, true), 2048.0F);
    EXPECT_EQ(sum(Accumulation::kFloat32, true), 2052.0F);
    EXPECT_EQ(sum(Accumulation::kFloat32, false), 2051.0F);
    EXPECT_EQ(pool.live(), 0U);
}

}  // namespace
}  // namespace switchfold::values_test
