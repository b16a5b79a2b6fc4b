// SPDX-License-Identifier: Apache-2.0
#include "interconnect/reduction_unit.h"

#include "core/error.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <vector>

namespace switchfold::reduction_unit_test {
namespace {

/// Four entries of 128 B, an adder of 25 bytes per nanosecond, 50 ns of latency.
ReductionUnitParams small_unit() {
    ReductionUnitParams params;
    params.entries = 4;
    params.buffer = Bytes(4 * 128);
    params.line = Bytes(128);
    params.adder_rate = gigabytes_per_second(25);
    params.latency = nanoseconds(50);
    return params;
}

Packet operands(std::uint64_t tag, std::uint32_t payload = 128, std::uint16_t group = 0) {
    Packet packet;
    packet.tag = tag;
    packet.payload = payload;
    packet.group = group;
    packet.count = 1;
    return packet;
}

// 128 B at 25 GB/s.
constexpr Time kLineTime(5120);

TEST(ReductionUnit, APullIsReadyWhenTheLastAnswerIsThroughTheAdder) {
    ReductionUnit unit(small_unit(), 1);
    const auto line = unit.open(operands(1), TreeRole::kRoot, 2, 1);
    ASSERT_TRUE(line);
    EXPECT_FALSE(unit.add(*line, operands(1), nanoseconds(100)));
    const auto span = unit.add(*line, operands(1), nanoseconds(200));
    ASSERT_TRUE(span);
    EXPECT_EQ(span->first, nanoseconds(200) + kLineTime + nanoseconds(50));
    EXPECT_EQ(span->last, span->first);
    EXPECT_EQ(unit.line(*line).count, 2U);
}

TEST(ReductionUnit, TheAdderTakesOneOperandAfterTheOther) {
    ReductionUnit unit(small_unit(), 1);
    const auto first = unit.open(operands(1), TreeRole::kRoot, 1, 1);
    const auto second = unit.open(operands(2), TreeRole::kRoot, 1, 1);
    ASSERT_TRUE(first && second);
    const auto one = unit.add(*first, operands(1), Time(0));
    const auto two = unit.add(*second, operands(2), Time(0));
    ASSERT_TRUE(one && two);
    EXPECT_EQ(one->last, kLineTime + nanoseconds(50));
    EXPECT_EQ(two->last, kLineTime + kLineTime + nanoseconds(50));
    EXPECT_EQ(unit.statistics().busy_time, kLineTime + kLineTime);
}

TEST(ReductionUnit, LanesWorkSideBySideAndHoldMore) {
    ReductionUnit unit(small_unit(), 4);
    for (std::uint64_t tag = 0; tag < 16; ++tag)
        EXPECT_TRUE(unit.open(operands(tag), TreeRole::kRoot, 1, 1)) << tag;
    EXPECT_FALSE(unit.open(operands(16), TreeRole::kRoot, 1, 1));
    const auto span = unit.add(0, operands(0), Time(0));
    ASSERT_TRUE(span);
    EXPECT_EQ(span->last, Time(kLineTime.count() / 4) + nanoseconds(50));
}

TEST(ReductionUnit, NoRoomUntilALineIsClosed) {
    ReductionUnit unit(small_unit(), 1);
    for (std::uint64_t tag = 0; tag < 4; ++tag)
        ASSERT_TRUE(unit.open(operands(tag), TreeRole::kRoot, 1, 1));
    EXPECT_FALSE(unit.open(operands(4), TreeRole::kRoot, 1, 1));
    // Lines below the root have a table of their own.
    EXPECT_TRUE(unit.open(operands(5), TreeRole::kBelow, 1, 1));
    ASSERT_TRUE(unit.add(0, operands(0), Time(0)));
    EXPECT_FALSE(unit.open(operands(4), TreeRole::kRoot, 1, 1)) << "the sum has not left";
    unit.close(0, true);
    EXPECT_TRUE(unit.open(operands(4), TreeRole::kRoot, 1, 1));
    EXPECT_EQ(unit.statistics().reductions, 1U);
    EXPECT_EQ(unit.statistics().bytes_out, 128U);
    EXPECT_EQ(unit.statistics().peak_entries, 5U);
}

TEST(ReductionUnit, AWideAccumulatorFillsTheBufferFirst) {
    ReductionUnit unit(small_unit(), 1);
    // Sums are twice as wide as the elements, so two lines fill the buffer of four entries.
    EXPECT_TRUE(unit.open(operands(0), TreeRole::kRoot, 1, 2));
    EXPECT_TRUE(unit.open(operands(1), TreeRole::kRoot, 1, 2));
    EXPECT_FALSE(unit.open(operands(2), TreeRole::kRoot, 1, 2));
    EXPECT_EQ(unit.room_of(0, 2), 2U * 128U);
    EXPECT_EQ(unit.room_of(0, 1), 4U * 128U);
}

TEST(ReductionUnit, ARequestOfMoreLinesThanTheTableHasOpensInParts) {
    ReductionUnit unit(small_unit(), 1);
    const Packet large = operands(0, 640);  // five lines
    EXPECT_FALSE(unit.open(large, TreeRole::kRoot, 1, 1));
    EXPECT_EQ(unit.fits(large, TreeRole::kRoot, 1), 512U);
    const std::uint32_t request = unit.divide(large, TreeRole::kRoot);
    EXPECT_EQ(unit.entries_used(), 0U) << "a request has no entries of its own";
    const std::uint32_t part = unit.open_part(request, operands(0, 512), 1, 1);
    EXPECT_EQ(unit.entries_used(), 4U);
    EXPECT_EQ(unit.fits(operands(0), TreeRole::kRoot, 1), 0U);
    ASSERT_TRUE(unit.add(part, operands(0, 512), Time(0)));
    unit.close(part, false);
    EXPECT_FALSE(unit.note_part(request, 512, false));
    const std::uint32_t last = unit.open_part(request, operands(0, 128), 1, 1);
    EXPECT_EQ(unit.line(last).number, 1U);
    ASSERT_TRUE(unit.add(last, operands(0, 128), Time(0)));
    unit.close(last, false);
    EXPECT_TRUE(unit.note_part(request, 128, false));
    unit.close(request, true);
    EXPECT_EQ(unit.statistics().reductions, 1U);
    EXPECT_EQ(unit.statistics().bytes_out, 640U);
    EXPECT_EQ(unit.statistics().peak_entries, 4U);
    EXPECT_EQ(unit.entries_used(), 0U);
}

TEST(ReductionUnit, PartsAreWholeLinesAndHeedTheBuffer) {
    ReductionUnitParams params = small_unit();
    params.buffer = Bytes(700);
    ReductionUnit unit(params, 1);
    EXPECT_EQ(unit.fits(operands(0, 4096), TreeRole::kRoot, 1), 512U);
    EXPECT_EQ(unit.fits(operands(0, 4096), TreeRole::kRoot, 2), 256U);
    EXPECT_EQ(unit.fits(operands(0, 200), TreeRole::kRoot, 1), 200U) << "its last line is short";
    params.buffer = Bytes(128);
    EXPECT_EQ(ReductionUnit(params, 1).fits(operands(0, 4096), TreeRole::kRoot, 2), 128U)
        << "a buffer of less than a line holds one";
}

TEST(ReductionUnit, PartsOfAGroupWithEntriesOfItsOwnKeepToThem) {
    ReductionUnitParams params = small_unit();
    params.when_full = WhenFull::kRefuse;
    params.group_entries = 3;
    ReductionUnit unit(params, 1);
    ASSERT_TRUE(unit.admit(1));
    EXPECT_EQ(unit.fits(operands(0, 4096, 1), TreeRole::kRoot, 1), 3U * 128U);
    ASSERT_TRUE(unit.open(operands(0, 256, 1), TreeRole::kRoot, 1, 1));
    EXPECT_EQ(unit.fits(operands(0, 4096, 1), TreeRole::kRoot, 1), 128U);
}

TEST(ReductionUnit, AddersHaveARateForEachType) {
    // What 128 B take that cross one adder, in line times of float32.
    const auto time = [](const ReductionUnitParams& params, ElementType type) {
        ReductionUnit unit(params, 1);
        const auto line = unit.open(operands(0), TreeRole::kRoot, 1, 1);
        const auto span = unit.add(*line, operands(0), Time(0), type);
        return static_cast<double>((span->last - params.latency).count()) /
               static_cast<double>(kLineTime.count());
    };
    ReductionUnitParams params = small_unit();
    params.accumulation = Accumulation::kFloat32;
    EXPECT_EQ(time(params, ElementType::kFloat32), 1.0);
    EXPECT_EQ(time(params, ElementType::kFloat16), 2.0) << "each half takes a lane of a float32";
    params.accumulation = Accumulation::kElement;
    EXPECT_EQ(time(params, ElementType::kFloat16), 1.0) << "two share one";
    params.float16_elements = 4;
    EXPECT_EQ(time(params, ElementType::kFloat16), 0.5);
    EXPECT_EQ(time(params, ElementType::kBfloat16), 1.0);
    EXPECT_EQ(time(params, ElementType::kFloat32), 1.0);
    params.bfloat16_elements = 1;
    EXPECT_EQ(time(params, ElementType::kBfloat16), 2.0);
}

TEST(ReductionUnit, ATypeAfterAnotherTakesItsOwnTime) {
    ReductionUnit unit(small_unit(), 1);
    const auto first = unit.open(operands(0), TreeRole::kRoot, 2, 1);
    unit.add(*first, operands(0), Time(0), ElementType::kFloat32);
    const auto span = unit.add(*first, operands(0), Time(0), ElementType::kFloat16);
    EXPECT_EQ(span->last, Time(3 * kLineTime.count()) + nanoseconds(50));
}

TEST(ReductionUnit, OnlyAsManyGroupsAsCanHaveTheirEntries) {
    ReductionUnitParams params = small_unit();
    params.when_full = WhenFull::kRefuse;
    params.group_entries = 2;
    ReductionUnit unit(params, 1);
    EXPECT_TRUE(unit.admit(1));
    EXPECT_TRUE(unit.admit(2));
    EXPECT_FALSE(unit.admit(3));
    EXPECT_EQ(unit.room_of(1, 1), 2U * 128U);
    // One group's lines do not take the entries set aside for the other.
    EXPECT_TRUE(unit.open(operands(0, 128, 1), TreeRole::kRoot, 1, 1));
    EXPECT_TRUE(unit.open(operands(1, 128, 1), TreeRole::kRoot, 1, 1));
    EXPECT_FALSE(unit.open(operands(2, 128, 1), TreeRole::kRoot, 1, 1));
    EXPECT_TRUE(unit.open(operands(0, 128, 2), TreeRole::kRoot, 1, 1));
    unit.dismiss(2);
    EXPECT_TRUE(unit.admit(3));
}

TEST(ReductionUnit, PushedOperandsFindTheirLineAndCompleteIt) {
    ReductionUnit unit(small_unit(), 1);
    const auto first = unit.push(operands(7), TreeRole::kRoot, 2, 1, Time(0));
    ASSERT_TRUE(first);
    EXPECT_TRUE(first->fresh);
    EXPECT_FALSE(first->ready);
    EXPECT_TRUE(unit.has_line(operands(7)));
    EXPECT_FALSE(unit.has_line(operands(8)));
    const auto second = unit.push(operands(7), TreeRole::kRoot, 2, 1, nanoseconds(100));
    ASSERT_TRUE(second);
    EXPECT_FALSE(second->fresh);
    EXPECT_EQ(second->line, first->line);
    ASSERT_TRUE(second->ready);
    EXPECT_EQ(second->ready->last, nanoseconds(100) + kLineTime + nanoseconds(50));
    EXPECT_FALSE(unit.has_line(operands(7))) << "a line on its way out takes no operands";
}

TEST(ReductionUnit, TheLineTouchedLongestAgoIsExpelled) {
    ReductionUnit unit(small_unit(), 1);
    ASSERT_TRUE(unit.push(operands(1), TreeRole::kRoot, 3, 1, nanoseconds(1)));
    ASSERT_TRUE(unit.push(operands(2), TreeRole::kRoot, 3, 1, nanoseconds(2)));
    ASSERT_TRUE(unit.push(operands(1), TreeRole::kRoot, 3, 1, nanoseconds(3)));
    const std::uint32_t oldest = unit.oldest(TreeRole::kRoot);
    EXPECT_EQ(unit.line(oldest).packet.tag, 2U);
    EXPECT_EQ(unit.expel(oldest, nanoseconds(900)), nanoseconds(950));
    EXPECT_EQ(unit.line(oldest).count, 1U);
    EXPECT_TRUE(unit.leaving(TreeRole::kRoot));
    unit.close(oldest, false);
    EXPECT_FALSE(unit.leaving(TreeRole::kRoot));
    EXPECT_EQ(unit.statistics().reductions, 0U) << "a partial sum is none";
    EXPECT_EQ(unit.line(unit.oldest(TreeRole::kRoot)).packet.tag, 1U);
}

TEST(ReductionUnit, AFailedPullLeavesWithoutASum) {
    ReductionUnit unit(small_unit(), 1);
    const auto line = unit.open(operands(1), TreeRole::kRoot, 2, 1);
    ASSERT_TRUE(line);
    unit.fail(*line);
    EXPECT_TRUE(unit.line(*line).failed);
    EXPECT_EQ(unit.statistics().timeouts, 1U);
    unit.close(*line, false);
    EXPECT_EQ(unit.entries_used(), 0U);
}

TEST(ReductionUnit, MisuseIsOurBug) {
    ReductionUnit unit(small_unit(), 1);
    const auto line = unit.open(operands(1), TreeRole::kRoot, 1, 1);
    ASSERT_TRUE(line);
    EXPECT_THROW(unit.close(*line, true), InternalError) << "its answer is not in";
    ASSERT_TRUE(unit.add(*line, operands(1), Time(0)));
    EXPECT_THROW((void)unit.add(*line, operands(1), Time(0)), InternalError);
}

RC_GTEST_PROP(ReductionUnitProperty, EveryOperandIsInExactlyOneSum, ()) {
    ReductionUnitParams params = small_unit();
    params.entries = *rc::gen::inRange(1U, 8U);
    params.buffer = Bytes(params.entries * 128ULL);
    ReductionUnit unit(params, 1);
    const std::uint32_t members = *rc::gen::inRange(2U, 6U);
    const auto order =
        *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 12));
    std::map<std::uint64_t, std::uint32_t> in;
    std::map<std::uint64_t, std::uint32_t> out;
    Time now;
    const auto leave = [&](std::uint32_t line, bool complete) {
        out[unit.line(line).packet.tag] += unit.line(line).count;
        unit.close(line, complete);
    };
    for (const std::uint64_t tag : order) {
        now = now + nanoseconds(1);
        ++in[tag];
        auto pushed = unit.push(operands(tag), TreeRole::kRoot, members, 1, now);
        if (!pushed) {
            const std::uint32_t oldest = unit.oldest(TreeRole::kRoot);
            unit.expel(oldest, now);
            leave(oldest, false);
            pushed = unit.push(operands(tag), TreeRole::kRoot, members, 1, now);
        }
        RC_ASSERT(pushed.has_value());
        RC_ASSERT(unit.entries_used() <= params.entries);
        if (pushed->ready) {
            RC_ASSERT(unit.line(pushed->line).count == members);
            leave(pushed->line, true);
        }
    }
    while (unit.oldest(TreeRole::kRoot) != ReductionUnit::kNone) {
        const std::uint32_t oldest = unit.oldest(TreeRole::kRoot);
        unit.expel(oldest, now);
        leave(oldest, false);
    }
    RC_ASSERT(in == out);
    RC_ASSERT(unit.entries_used() == 0U);
    RC_ASSERT(unit.statistics().bytes_in == order.size() * 128U);
}

}  // namespace
}  // namespace switchfold::reduction_unit_test
