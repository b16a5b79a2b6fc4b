// SPDX-License-Identifier: Apache-2.0
#include "core/statistics.h"

#include <gtest/gtest.h>

namespace switchfold::statistics_test {
namespace {

struct Pump {
    std::uint64_t bytes = 0;
    Time busy;
    static constexpr auto statistics() {
        return list_of(
            statistic("bytes", &Pump::bytes, Unit::kBytes, "Pumped."),
            statistic("busy_us", &Pump::busy, Unit::kMicroseconds, "Time in use."));
    }
};
struct Use {
    double share = 0;
    static constexpr auto statistics() {
        return list_of(statistic("share", &Use::share, Unit::kShare, "Of the run."));
    }
};

TEST(Statistics, ATableHasTheColumnsThatItsStructsDeclareInTheirOrder) {
    const auto table = StatisticTable::of<Pump, Use>("pumps", "A pump.");
    const std::vector<StatisticTable::Column> columns{
        {"bytes", Unit::kBytes, "Pumped."},
        {"busy_us", Unit::kMicroseconds, "Time in use."},
        {"share", Unit::kShare, "Of the run."}};
    EXPECT_EQ(table.columns, columns);
    EXPECT_EQ(table.kind, "pumps");
    EXPECT_TRUE(table.rows.empty());
}

TEST(Statistics, ARowHoldsTheValuesAndTimesAreMicroseconds) {
    auto table = StatisticTable::of<Pump, Use>("pumps", "A pump.");
    table.add("p0", Pump{7, nanoseconds(2500)}, Use{0.5});
    EXPECT_EQ(table.rows, (std::vector<StatisticTable::Row>{{"p0", {7, 2.5, 0.5}}}));
}

TEST(Statistics, WhatDidNothingIsLeftOut) {
    auto table = StatisticTable::of<Pump, Use>("pumps", "A pump.");
    table.add("idle", Pump{}, Use{});
    table.add("worked", Pump{0, Time(1)}, Use{});
    ASSERT_EQ(table.rows.size(), 1U);
    EXPECT_EQ(table.rows[0].name, "worked");
}

TEST(Statistics, ARowOfOtherStructsIsOurBug) {
    auto table = StatisticTable::of<Pump, Use>("pumps", "A pump.");
    EXPECT_THROW(table.add("p0", Pump{1, Time()}), InternalError);
}

TEST(Statistics, TheManualNamesUnitAndMeaning) {
    const auto table = StatisticTable::of<Pump, Use>("pumps", "A pump.");
    EXPECT_EQ(
        docs_of(table), "## pumps\n\nA pump.\n\n| name | unit | meaning |\n|---|---|---|\n"
                        "| `bytes` | bytes | Pumped. |\n| `busy_us` | us | Time in use. |\n"
                        "| `share` | share | Of the run. |\n");
}

}  // namespace
}  // namespace switchfold::statistics_test
