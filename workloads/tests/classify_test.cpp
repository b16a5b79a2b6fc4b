// SPDX-License-Identifier: Apache-2.0
// Tests for what names in traces say.
#include "workloads/profile/classify.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace switchfold::classify_test {
namespace {

TEST(ElementWidth, IsThatOfPyTorchsTypes) {
    // c10::toString of ScalarType.
    constexpr std::pair<const char*, std::uint64_t> kSizes[] = {
        {"Float", 4},          {"Half", 2},          {"BFloat16", 2},
        {"Double", 8},         {"Byte", 1},          {"Bool", 1},
        {"Char", 1},           {"Short", 2},         {"Int", 4},
        {"Long", 8},           {"UInt16", 2},        {"UInt32", 4},
        {"UInt64", 8},         {"ComplexHalf", 4},   {"ComplexFloat", 8},
        {"ComplexDouble", 16}, {"QInt8", 1},         {"QUInt8", 1},
        {"QInt32", 4},         {"Float8_e4m3fn", 1}, {"Float4_e2m1fn_x2", 1},
        {"Bits8", 1},          {"Bits16", 2}};
    for (const auto& [name, bytes] : kSizes)
        EXPECT_EQ(element_width(name)->bytes(1), Bytes(bytes)) << name;
    EXPECT_EQ(element_width("BFloat16")->type, Datatype::kBfloat16);
    EXPECT_FALSE(element_width("Mystery"));
}

}  // namespace
}  // namespace switchfold::classify_test
