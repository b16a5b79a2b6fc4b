// SPDX-License-Identifier: Apache-2.0
#include "interconnect/unit_cost.h"

#include "core/error.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace switchfold::unit_cost_test {
namespace {

ReductionUnitParams some_unit() {
    ReductionUnitParams unit;
    unit.entries = *rc::gen::inRange(1U, 5000U);
    unit.buffer = Bytes(*rc::gen::inRange(128U, 8U << 20U));
    unit.adders = *rc::gen::inRange(1U, 16U);
    unit.adder_rate = gigabytes_per_second(*rc::gen::inRange(1U, 400U));
    unit.float16_elements = *rc::gen::inRange(0U, 5U);
    unit.narrow_elements = *rc::gen::inRange(0U, 5U);
    unit.accumulation = *rc::gen::element(Accumulation::kElement, Accumulation::kFloat32);
    unit.max_members = *rc::gen::inRange(1U, 200U);
    return unit;
}
UnitPlace some_place() {
    return {
        *rc::gen::inRange(1U, 40U), *rc::gen::inRange(1U, 3U), *rc::gen::elementOf(kCostNodes),
        *rc::gen::arbitrary<bool>()};
}

void expect_no_less(const CostRange& more, const CostRange& less) {
    constexpr double kRounding = 1 + 1e-9;
    RC_ASSERT(more.low * kRounding >= less.low);
    RC_ASSERT(more.high * kRounding >= less.high);
}
void expect_no_cheaper(const UnitCost& more, const UnitCost& less) {
    expect_no_less(more.mm2(), less.mm2());
    for (std::size_t i = 0; i < more.pj_per_byte.size(); ++i)
        expect_no_less(more.pj_per_byte[i], less.pj_per_byte[i]);
}

RC_GTEST_PROP(UnitCost, IsARange, ()) {
    const UnitCost cost = unit_cost(some_unit(), some_place());
    for (const CostRange& range :
         {cost.adders_mm2, cost.quantisers_mm2, cost.sums_mm2, cost.entries_mm2, cost.mm2(),
          cost.pj_per_byte[0], cost.pj_per_byte[1], cost.pj_per_byte[2]}) {
        RC_ASSERT(range.low >= 0);
        RC_ASSERT(range.high >= range.low);
    }
    RC_ASSERT(cost.mm2().low > 0);
}

RC_GTEST_PROP(UnitCost, GrowsWithEveryKnob, ()) {
    const ReductionUnitParams unit = some_unit();
    const UnitPlace place = some_place();
    const UnitCost cost = unit_cost(unit, place);
    const std::uint32_t times = *rc::gen::inRange(2U, 5U);
    const auto larger = [&](auto change) {
        ReductionUnitParams other = unit;
        change(other);
        expect_no_cheaper(unit_cost(other, place), cost);
    };
    larger([&](ReductionUnitParams& u) { u.entries *= times; });
    larger([&](ReductionUnitParams& u) { u.buffer = Bytes(u.buffer.count() * times); });
    larger([&](ReductionUnitParams& u) { u.adders *= times; });
    larger([&](ReductionUnitParams& u) { u.adder_rate = u.adder_rate * times; });
    larger([&](ReductionUnitParams& u) { u.max_members *= times; });
    larger([&](ReductionUnitParams& u) { u.narrow_elements += times; });
    larger([&](ReductionUnitParams& u) {
        u.float16_elements = (u.float16_elements == 0 ? 2 : u.float16_elements) * times;
    });
    if (unit.accumulation == Accumulation::kElement)
        larger([&](ReductionUnitParams& u) {
            u.accumulation = Accumulation::kFloat32;
            u.float16_elements = u.float16_elements == 0 ? 2 : u.float16_elements;
            u.bfloat16_elements = 2;
        });
}

RC_GTEST_PROP(UnitCost, OfSeveralLanesAndTablesIsTheirSum, ()) {
    const ReductionUnitParams unit = some_unit();
    UnitPlace place = some_place();
    place.lanes = place.tables = 1;
    const UnitCost one = unit_cost(unit, place);
    place.lanes = 18;
    place.tables = 2;
    const UnitCost many = unit_cost(unit, place);
    const auto expect_times = [](const CostRange& sum, const CostRange& part, double factor) {
        RC_ASSERT(std::fabs(sum.low - part.low * factor) <= 1e-9 * sum.low);
        RC_ASSERT(std::fabs(sum.high - part.high * factor) <= 1e-9 * sum.high);
    };
    expect_times(many.adders_mm2, one.adders_mm2, 18);
    expect_times(many.sums_mm2, one.sums_mm2, 36);
    expect_times(many.entries_mm2, one.entries_mm2, 36);
}

/// The numbers behind docs/in_switch.md#area-and-energy, worked out by hand.
TEST(UnitCost, OfAPortOfNvSwitch3AtSevenNanometres) {
    ReductionUnitParams unit;  // 256 entries, 128 KiB, one adder, sums kept as float32
    unit.adder_rate = gigabytes_per_second(50);
    const UnitCost cost = unit_cost(unit, {});
    // 12.5 G additions a second: ten adders at 1.33 GHz, thirteen at 1 GHz.
    EXPECT_NEAR(cost.adders_mm2.low, 10 * 4184e-6 * 0.059, 1e-9);
    EXPECT_NEAR(cost.adders_mm2.high, 13 / 13.5 * 0.021, 1e-9);
    const double bits = 128 * 1024 * 8;
    EXPECT_NEAR(cost.sums_mm2.low, bits * 0.027e-6 * 1.3, 1e-9);
    EXPECT_NEAR(cost.sums_mm2.high, bits * 42.64 / 268435456, 1e-9);
    // 64 of address, 16 of group, two counts of 7, 64 members, 8 of state.
    EXPECT_EQ(entry_bits(unit), 166U);
    EXPECT_NEAR(cost.entries_mm2.low, 256 * 166 * 0.027e-6 * 1.3, 1e-9);
    EXPECT_NEAR(cost.entries_mm2.high, 256 * 166 * 5.98e-6 * 0.059, 1e-9);
    // Scaled from 45 nm: 0.0774 of the energy. An addition is 4 bytes; sums are read and written.
    const double scaled =
        (0.1776 * 0.64 - 0.09097 * 0.8 + 0.02447) / (1.103 * 0.81 - 0.362 * 0.9 + 0.2767);
    EXPECT_NEAR(scaled, 0.0774, 1e-4);
    EXPECT_NEAR(cost.pj_per_byte[0].low, 0.9 * scaled / 4 + 2 * 20 * scaled / 8, 1e-9);
    EXPECT_NEAR(cost.pj_per_byte[0].high, 0.38 / 4 + 2 * 14.0 / 8, 1e-9);
    // Half as wide, and kept as wide: twice the additions and accesses for a byte.
    EXPECT_NEAR(cost.pj_per_byte[1].high, 0.38 / 2 + 4 * 14.0 / 8, 1e-9);
}

TEST(UnitCost, KeptAsWideAsElementsNeedsNarrowAddersBesideTheWideOne) {
    ReductionUnitParams unit;
    unit.adder_rate = gigabytes_per_second(4);   // one lane
    unit.accumulation = Accumulation::kElement;  // two of 16 bits in the time of one of 32
    EXPECT_NEAR(unit_cost(unit, {}).adders_mm2.low, (4184 + 1360) * 1e-6 * 0.059, 1e-9);
    unit.datatypes = {ElementType::kBfloat16};
    EXPECT_NEAR(unit_cost(unit, {}).adders_mm2.low, 2 * 1360e-6 * 0.059, 1e-9);
    EXPECT_EQ(unit_cost(unit, {}).pj_per_byte[0].high, 0);
}

TEST(UnitCost, IsSmallerInNewerProcesses) {
    for (std::size_t i = 1; i < kCostNodes.size(); ++i) {
        const UnitCost older = unit_cost({}, {1, 1, kCostNodes[i - 1], true});
        const UnitCost newer = unit_cost({}, {1, 1, kCostNodes[i], true});
        EXPECT_LT(newer.mm2().low, older.mm2().low);
        EXPECT_LT(newer.mm2().high, older.mm2().high);
        EXPECT_LT(newer.pj_per_byte[0].low, older.pj_per_byte[0].low);
        EXPECT_LT(newer.pj_per_byte[0].high, older.pj_per_byte[0].high);
    }
}

TEST(UnitCost, OfAnUnknownProcessIsRefusedWithThoseThatAreKnown) {
    try {
        static_cast<void>(unit_cost({}, {1, 1, 5, false}));
        FAIL() << "5 nm was taken";
    } catch (const ConfigError& error) {
        EXPECT_NE(
            std::string(error.what())
                .find("is 5 nm, of which no numbers are known; expected one of 16, 14, 10, 7"),
            std::string::npos);
    }
}

}  // namespace
}  // namespace switchfold::unit_cost_test
