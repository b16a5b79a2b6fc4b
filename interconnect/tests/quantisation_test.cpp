// SPDX-License-Identifier: Apache-2.0
#include "interconnect/quantisation.h"

#include "interconnect/reduction_unit.h"
#include "interconnect/tests/narrow_reference.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace switchfold::quantisation_test {
namespace {

constexpr std::array kFormats{
    NarrowFormat::kFloat8E4m3, NarrowFormat::kFloat8E5m2, NarrowFormat::kInt8};

Quantisation at_gpu(NarrowFormat format, std::uint32_t block = 32, std::uint32_t scale_bytes = 1) {
    return {QuantisedAt::kGpu, format, block, scale_bytes};
}

Quantisation some_quantisation() {
    return {
        *rc::gen::element(QuantisedAt::kGpu, QuantisedAt::kPort), *rc::gen::elementOf(kFormats),
        std::uint32_t{4} << *rc::gen::inRange(0U, 6U), *rc::gen::element(1U, 2U, 4U)};
}

/// Of any magnitude, some of them equal or zero.
std::vector<float> some_numbers(std::size_t count) {
    std::vector<float> numbers;
    const int spread = *rc::gen::inRange(0, 40);
    const int middle = *rc::gen::inRange(-40, 60);
    for (std::size_t i = 0; i < count; ++i) {
        const int whole = *rc::gen::inRange(-4'000'000, 4'000'000);
        const int exponent = middle - 22 + (spread == 0 ? 0 : *rc::gen::inRange(0, spread));
        numbers.push_back(std::ldexp(static_cast<float>(whole), exponent));
    }
    return numbers;
}

RC_GTEST_PROP(Quantisation, IsWhatTablesOfTheFormatsSay, ()) {
    const Quantisation quantised = some_quantisation();
    std::vector<float> numbers = some_numbers(*rc::gen::inRange<std::size_t>(1, 200));
    const std::vector<float> expected = NarrowReference(quantised).quantised(numbers);
    quantise(quantised, numbers);
    RC_ASSERT(numbers == expected);
}

RC_GTEST_PROP(Quantisation, MovesNoNumberByMoreThanAStepOfItsBlock, ()) {
    const Quantisation quantised = some_quantisation();
    const std::vector<float> before = some_numbers(*rc::gen::inRange<std::size_t>(1, 200));
    std::vector<float> after = before;
    quantise(quantised, after);
    for (std::size_t i = 0; i < before.size(); ++i) {
        const std::size_t first = i / quantised.block * quantised.block;
        double largest = 0;
        for (std::size_t j = first; j < std::min(first + quantised.block, before.size()); ++j)
            largest = std::max(largest, std::fabs(static_cast<double>(before[j])));
        RC_ASSERT(
            std::fabs(static_cast<double>(after[i]) - before[i]) <=
            largest * quantisation_step(quantised));
    }
}

TEST(Quantisation, AStepIsNoWiderThanItMustBe) {
    // Halfway between two numbers, and the largest of its block.
    std::vector<float> e4m3{1 + 1 / 16.0F};
    quantise(at_gpu(NarrowFormat::kFloat8E4m3), e4m3);
    EXPECT_EQ(e4m3[0], 1.0F);
    EXPECT_GT(0.0625 / 1.0625, 0.9 * quantisation_step(at_gpu(NarrowFormat::kFloat8E4m3)));
    std::vector<float> e5m2{1 + 1 / 8.0F};
    quantise(at_gpu(NarrowFormat::kFloat8E5m2), e5m2);
    EXPECT_EQ(e5m2[0], 1.0F);
    EXPECT_GT(0.125 / 1.125, 0.85 * quantisation_step(at_gpu(NarrowFormat::kFloat8E5m2)));
    // 127.5 needs a scale of two.
    std::vector<float> int8{127.5F, 1.0F};
    quantise(at_gpu(NarrowFormat::kInt8), int8);
    EXPECT_EQ(int8[0], 128.0F);
    EXPECT_EQ(int8[1], 0.0F);
    EXPECT_GT(1 / 127.5, 0.99 * quantisation_step(at_gpu(NarrowFormat::kInt8)));
}

TEST(Quantisation, WhatIsNotFiniteStays) {
    std::vector<float> numbers{1.0F, INFINITY, std::numeric_limits<float>::quiet_NaN(), -INFINITY};
    quantise(at_gpu(NarrowFormat::kFloat8E4m3), numbers);
    EXPECT_EQ(numbers[0], 1.0F);
    EXPECT_EQ(numbers[1], INFINITY);
    EXPECT_TRUE(std::isnan(numbers[2]));
    EXPECT_EQ(numbers[3], -INFINITY);
    std::vector<float> zeros(40, 0.0F);
    quantise(at_gpu(NarrowFormat::kInt8), zeros);
    EXPECT_EQ(zeros, std::vector<float>(40, 0.0F));
}

TEST(Quantisation, ALineCarriesAByteAnElementAndAScaleABlock) {
    const auto carried = [](std::uint64_t payload, std::uint32_t block, std::uint32_t scale,
                            std::uint32_t element) {
        return carried_bytes(
            payload, narrow_width(at_gpu(NarrowFormat::kInt8, block, scale), element));
    };
    EXPECT_EQ(carried(512, 32, 1, 4), 128U + 4);
    EXPECT_EQ(carried(512, 128, 4, 4), 128U + 4);
    EXPECT_EQ(carried(512, 32, 2, 2), 256U + 16);
    EXPECT_EQ(carried(4 * 33, 32, 1, 4), 33U + 2) << "the last block is short";
    EXPECT_EQ(carried(0, 32, 1, 4), 0U);
    EXPECT_EQ(carried(1ULL << 40U, 32'768, 1, 2), (1ULL << 39U) + (1ULL << 24U));
    EXPECT_EQ(carried_bytes(100, 2), 200U) << "partial sums of 16-bit numbers";
}

TEST(Quantisation, SaysWhatIsWrongWithBlocksAndScales) {
    ParamChecker checker;
    Quantisation{QuantisedAt::kGpu, NarrowFormat::kInt8, 12, 3}.check(checker);
    ASSERT_EQ(checker.found().size(), 2U);
    EXPECT_EQ(checker.found()[0].first, "/block");
    EXPECT_EQ(checker.found()[1].first, "/scale_bytes");
    ReductionUnitParams unit;
    unit.formats = {NarrowFormat::kInt8};
    const auto why = [&](QuantisedAt at, std::uint32_t block, ElementType type) {
        return unit.why_not({type, {at, NarrowFormat::kInt8, block, 1}});
    };
    EXPECT_EQ(why(QuantisedAt::kGpu, 128, ElementType::kFloat32), "");
    EXPECT_EQ(why(QuantisedAt::kPort, 32, ElementType::kFloat32), "");
    EXPECT_EQ(why(QuantisedAt::kPort, 64, ElementType::kBfloat16), "");
    EXPECT_EQ(
        why(QuantisedAt::kPort, 64, ElementType::kFloat32),
        "has lines of 128 B, which are not whole blocks of 64 elements, 256 B there");
    EXPECT_EQ(
        why(QuantisedAt::kGpu, 256, ElementType::kFloat32),
        "has lines of 128 B, which are not whole blocks of 256 elements, 256 B there");
    EXPECT_EQ(
        unit.why_not({ElementType::kFloat32, at_gpu(NarrowFormat::kFloat8E5m2)}),
        "adds no float8_e5m2");
    EXPECT_EQ(unit.why_not(ElementType::kFloat32), "");
}

Packet operands(std::uint64_t tag, std::uint32_t payload) {
    Packet packet;
    packet.kind = PacketKind::kReducePush;
    packet.tag = tag;
    packet.payload = payload;
    packet.count = 1;
    return packet;
}

TEST(QuantisedUnit, AnEntryHoldsALineOf8BitNumbers) {
    ReductionUnitParams params;
    params.entries = 4;
    params.buffer = Bytes(2048);
    const OperandFormat narrow(ElementType::kFloat32, at_gpu(NarrowFormat::kInt8));
    {
        // Sums as float32 have the elements' width: 512 B a line.
        ReductionUnit unit(params, 1);
        const UnitFormat format(narrow, Accumulation::kFloat32);
        EXPECT_EQ(unit.room_of(0, format), 4U * 512);
        for (std::uint64_t tag = 0; tag < 4; ++tag)
            EXPECT_TRUE(unit.push(operands(tag, 512), TreeRole::kRoot, 2, format, Time(0)));
        EXPECT_FALSE(unit.push(operands(4, 512), TreeRole::kRoot, 2, format, Time(0)));
        EXPECT_EQ(unit.statistics().bytes_in, 4U * 132);
    }
    {
        // Kept as 8-bit numbers they take 132 B: three lines fit 400 B of buffer.
        params.buffer = Bytes(400);
        ReductionUnit unit(params, 1);
        const UnitFormat format(narrow, Accumulation::kElement);
        EXPECT_EQ(unit.room_of(0, format), 3U * 512);
        EXPECT_EQ(unit.fits(operands(0, 8192), TreeRole::kRoot, format), 3U * 512);
    }
    {
        // Quantised at the port they come, and are held, as they are.
        params.buffer = Bytes(2048);
        ReductionUnit unit(params, 1);
        const OperandFormat port(
            ElementType::kFloat32, {QuantisedAt::kPort, NarrowFormat::kInt8, 32, 1});
        EXPECT_EQ(unit.room_of(0, UnitFormat(port, Accumulation::kFloat32)), 4U * 128);
    }
}

TEST(QuantisedUnit, AddersTakeEachTypeAtItsRate) {
    ReductionUnitParams params;
    params.adder_rate = gigabytes_per_second(4);  // a float32 a nanosecond
    const auto busy = [&](const OperandFormat& format) {
        ReductionUnit unit(params, 1);
        static_cast<void>(unit.push(
            operands(1, 128 * width_of(format.type)), TreeRole::kRoot, 2,
            UnitFormat(format, params.accumulation), Time(0)));
        return unit.statistics().busy_time;
    };
    const auto narrow = [](ElementType type) {
        return OperandFormat(type, at_gpu(NarrowFormat::kFloat8E4m3));
    };
    params.accumulation = Accumulation::kFloat32;
    EXPECT_EQ(busy(narrow(ElementType::kFloat32)), nanoseconds(128));
    EXPECT_EQ(busy(narrow(ElementType::kBfloat16)), nanoseconds(128));
    params.accumulation = Accumulation::kElement;
    EXPECT_EQ(busy(narrow(ElementType::kFloat32)), nanoseconds(32));
    EXPECT_EQ(busy(narrow(ElementType::kBfloat16)), nanoseconds(32));
    params.narrow_elements = 2;
    EXPECT_EQ(busy(narrow(ElementType::kFloat32)), nanoseconds(64));
    EXPECT_EQ(busy(ElementType::kFloat32), nanoseconds(128)) << "others keep theirs";
}

}  // namespace
}  // namespace switchfold::quantisation_test
