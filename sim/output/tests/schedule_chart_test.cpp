// SPDX-License-Identifier: Apache-2.0
#include "sim/output/schedule_chart.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace switchfold::schedule_chart_test {
namespace {

ChartPass pass(std::uint32_t rank, std::string_view name, std::uint64_t start, std::uint64_t end) {
    return {rank, parse_pass_name(name).value(), start, end};
}

TEST(PassNames, AreReadAsSchedulesWriteThem) {
    const auto name = parse_pass_name("BW12@305");
    ASSERT_TRUE(name);
    EXPECT_EQ(name->kind, "BW");
    EXPECT_EQ(name->micro_batch, 12U);
    EXPECT_EQ(name->stage, 305U);
    EXPECT_EQ(to_string(*name), "BW12@305");
    for (const char* text : {"F0@0", "B1@0", "W1@2", "U7@1"})
        EXPECT_TRUE(parse_pass_name(text)) << text;
}

TEST(PassNames, OtherTextIsNone) {
    for (const char* text :
         {"", "F", "F1", "F@1", "F1@", "F1@x", "F1@2 ", "3@1", "X1@1", "f1@1", "F-1@1",
          "F99999999999@1"})
        EXPECT_FALSE(parse_pass_name(text)) << text;
}

TEST(PassNames, ThoseOfLayersAreNoneOfStages) {
    for (const char* text : {"F0@embedding", "B3@lstm.1 13/20", "W1@head", "U0"}) {
        EXPECT_TRUE(is_pass_of_a_layer(text)) << text;
        EXPECT_FALSE(parse_pass_name(text)) << text;
    }
    for (const char* text :
         {"F0@1", "BW12@305", "U7@1", "X1@head", "F@head", "F1@", "F1", "", "F1 head"})
        EXPECT_FALSE(is_pass_of_a_layer(text)) << text;
}

TEST(ScheduleChart, WithoutPassesIsEmpty) {
    const ScheduleChart chart = schedule_chart({});
    EXPECT_TRUE(chart.ranks.empty());
    EXPECT_TRUE(chart.bars.empty());
    EXPECT_FALSE(chart.cut);
}

TEST(ScheduleChart, RanksThatDoTheSameAreOneRow) {
    // Replicas run the same passes; their times may differ.
    const ScheduleChart chart = schedule_chart(
        {pass(0, "F0@0", 0, 5), pass(0, "BW0@0", 30, 40), pass(1, "F0@0", 1, 6),
         pass(1, "BW0@0", 31, 41), pass(2, "F0@1", 6, 12), pass(3, "F0@1", 7, 13)});
    EXPECT_EQ(chart.ranks, (std::vector<std::uint32_t>{0, 2}));
    EXPECT_EQ(chart.alike, 2U);
    EXPECT_EQ(chart.others, 0U);
    ASSERT_EQ(chart.bars.size(), 3U);
    EXPECT_EQ(chart.bars[1].pass.end_ps, 40U);
    EXPECT_EQ(chart.bars[2].pass.rank, 2U);
}

TEST(ScheduleChart, ASlowOrLateRankHasARowOfItsOwn) {
    const ScheduleChart chart = schedule_chart(
        {pass(0, "F0@0", 0, 40), pass(0, "BW0@0", 40, 100), pass(1, "F0@0", 0, 41),
         pass(1, "BW0@0", 41, 100), pass(2, "F0@0", 0, 48), pass(2, "BW0@0", 48, 100),
         pass(3, "F0@0", 10, 50), pass(3, "BW0@0", 50, 100), pass(4, "F0@0", 10, 50),
         pass(4, "BW0@0", 50, 101)});
    EXPECT_EQ(chart.ranks, (std::vector<std::uint32_t>{0, 2, 3}));
    EXPECT_EQ(chart.alike, 2U);
}

TEST(ScheduleChart, BarsComeByStartAndKnowWhatRunsBeside) {
    const ScheduleChart chart = schedule_chart(
        {pass(0, "BW0@0", 10, 20), pass(0, "F1@0", 15, 18), pass(0, "F2@0", 19, 25),
         pass(0, "F0@0", 0, 10), pass(0, "U0@0", 25, 26)});
    std::string kinds;
    std::vector<bool> beside;
    for (const ScheduleBar& bar : chart.bars) {
        kinds += bar.pass.name.kind + " ";
        beside.push_back(bar.beside);
    }
    EXPECT_EQ(kinds, "F BW F F U ");
    // Passes that only touch do not run at the same time.
    EXPECT_EQ(beside, (std::vector<bool>{false, true, true, true, false}));
}

TEST(ScheduleChart, StagesOfARankAreCountedFromTheInput) {
    const ScheduleChart chart = schedule_chart(
        {pass(0, "F0@0", 0, 1), pass(0, "F0@7", 1, 2), pass(1, "F0@6", 0, 1), pass(1, "F0@1", 1, 2),
         pass(2, "F0@5", 0, 1)});
    EXPECT_EQ(chart.chunks, 2U);
    std::vector<std::uint32_t> chunks;
    for (const ScheduleBar& bar : chart.bars)
        chunks.push_back(bar.chunk);
    EXPECT_EQ(chunks, (std::vector<std::uint32_t>{0, 1, 1, 0, 0}));
}

TEST(ScheduleChart, TooManyRowsAreThinnedOutFromTheFirstToTheLast) {
    std::vector<ChartPass> passes;
    for (std::uint32_t r = 0; r < 96; ++r)
        passes.push_back({r, {"F", 0, r}, r, r + 1});
    const ScheduleChart chart = schedule_chart(passes);
    ASSERT_EQ(chart.ranks.size(), 16U);
    EXPECT_EQ(chart.ranks.front(), 0U);
    EXPECT_EQ(chart.ranks.back(), 95U);
    EXPECT_TRUE(std::is_sorted(chart.ranks.begin(), chart.ranks.end()));
    EXPECT_EQ(chart.others, 80U);
    EXPECT_EQ(chart.alike, 0U);
    EXPECT_EQ(chart.bars.size(), 16U);
}

TEST(ScheduleChart, ALongRunIsCutAtTheSameMomentInEveryRow) {
    std::vector<ChartPass> passes;
    for (std::uint32_t r = 0; r < 2; ++r)
        for (std::uint32_t i = 0; i < 10; ++i)
            passes.push_back({r, {"F", i, r}, i * 10 * (r + 1), i * 10 * (r + 1) + 10});
    const ScheduleChart whole = schedule_chart(passes, {16, 10});
    EXPECT_FALSE(whole.cut);
    EXPECT_EQ(whole.bars.size(), 20U);
    const ScheduleChart first = schedule_chart(passes, {16, 4});
    EXPECT_TRUE(first.cut);
    // Rank 0's fifth pass would start at 40; rank 1 has started two passes by then.
    ASSERT_EQ(first.bars.size(), 6U);
    for (const ScheduleBar& bar : first.bars)
        EXPECT_LT(bar.pass.start_ps, 40U);
}

}  // namespace
}  // namespace switchfold::schedule_chart_test
