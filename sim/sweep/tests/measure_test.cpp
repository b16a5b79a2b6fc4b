// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/measure.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <stdexcept>

namespace switchfold::measure_test {
namespace {

std::string why_not(const std::string& range) {
    try {
        static_cast<void>(expand_range(range, 1000));
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

TEST(Range, PowersOfTwoFromKibibytesToGibibytes) {
    const std::vector<Json> values = expand_range("1 KiB..4 GiB x2", 100);
    ASSERT_EQ(values.size(), 23U);
    EXPECT_EQ(values.front(), "1 KiB");
    EXPECT_EQ(values[10], "1 MiB");
    EXPECT_EQ(values.back(), "4 GiB");
}

TEST(Range, StepsOfAUnitAndOfNumbers) {
    EXPECT_EQ(
        expand_range("100 ns..300 ns +100 ns", 9),
        (std::vector<Json>{"100 ns", "200 ns", "300 ns"}));
    EXPECT_EQ(expand_range("8..32 +8", 9), (std::vector<Json>{8, 16, 24, 32}));
    EXPECT_EQ(expand_range("1..100 x10", 9), (std::vector<Json>{1, 10, 100}));
    EXPECT_EQ(expand_range("0.1..0.3 +0.1", 9).size(), 3U);
    EXPECT_TRUE(expand_range("8..9 +1", 9).front().is_number_integer());
}

TEST(Range, EndsAtTheLastValueThatIsNotAboveItsEnd) {
    EXPECT_EQ(expand_range("1 B..10 B x3", 9), (std::vector<Json>{"1 B", "3 B", "9 B"}));
    EXPECT_EQ(expand_range("16777215 TiB..16777215 TiB x2", 9).size(), 1U);
}

TEST(Range, SaysWhatIsWrong) {
    EXPECT_NE(why_not("8").find("has no \"..\""), std::string::npos);
    EXPECT_NE(why_not("1..9").find("no step"), std::string::npos);
    EXPECT_NE(why_not("1 KiB..9 ns x2").find("different kinds"), std::string::npos);
    EXPECT_NE(why_not("9..1 +1").find("ends below"), std::string::npos);
    EXPECT_NE(why_not("1..9 x1").find("factor"), std::string::npos);
    EXPECT_NE(why_not("0..9 x2").find("not above 0"), std::string::npos);
    EXPECT_NE(why_not("1..9 +0").find("step"), std::string::npos);
    EXPECT_NE(why_not("1 KiB..4 KiB +1 ns").find("step"), std::string::npos);
    EXPECT_NE(why_not("one..9 +1").find("is not a number"), std::string::npos);
    EXPECT_NE(why_not("1..1000000000 +1").find("more than 1000"), std::string::npos);
}

TEST(Range, EveryValueIsTheOneBeforeTimesTheFactor) {
    EXPECT_TRUE(rc::check("bytes", [] {
        const auto from = *rc::gen::inRange<std::uint64_t>(1, 1'000'000);
        const auto factor = *rc::gen::inRange<std::uint64_t>(2, 9);
        const auto to = from * *rc::gen::inRange<std::uint64_t>(1, 1'000'000);
        const std::vector<Json> values =
            expand_range(fmt::format("{} B..{} B x{}", from, to, factor), 1000);
        double expected = static_cast<double>(from);
        for (const Json& value : values) {
            RC_ASSERT(measure_of(value)->number == expected);
            expected *= static_cast<double>(factor);
        }
        RC_ASSERT(expected > static_cast<double>(to));
    }));
}

TEST(Measure, KnowsUnitsFromBareNumbersAndWords) {
    EXPECT_EQ(measure_of("25 MiB")->kind, MeasureKind::kBytes);
    EXPECT_EQ(measure_of("700 ns")->number, 0.7);
    EXPECT_EQ(measure_of("450 GB/s")->number, 450);
    EXPECT_EQ(measure_of(8)->kind, MeasureKind::kNumber);
    EXPECT_FALSE(measure_of("8"));
    EXPECT_FALSE(measure_of("ring"));
    EXPECT_FALSE(measure_of(true));
}

}  // namespace
}  // namespace switchfold::measure_test
