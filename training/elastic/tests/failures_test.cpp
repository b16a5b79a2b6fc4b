// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/failures.h"

#include "core/error.h"
#include "core/tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace switchfold::elastic::failures_test {
namespace {

constexpr Time seconds(std::uint64_t value) {
    return Time(1'000'000'000'000) * value;
}
constexpr std::uint64_t kDay = 86'400;

TEST(Failures, ComeAtTheirRateAndAreTheSameForASeed) {
    const auto failures = draw_failures(100, 0.5, seconds(100 * kDay), 3);
    EXPECT_EQ(failures, draw_failures(100, 0.5, seconds(100 * kDay), 3));
    EXPECT_NE(failures, draw_failures(100, 0.5, seconds(100 * kDay), 4));
    // A Poisson process with a mean of 5000 failures; four standard deviations of tolerance.
    EXPECT_NEAR(static_cast<double>(failures.size()), 5000, 4 * std::sqrt(5000));
    for (std::size_t i = 1; i < failures.size(); ++i)
        EXPECT_LE(failures[i - 1].at, failures[i].at);
}

TEST(Failures, ASpareTakesThePlaceAndTheRepairedIsTheNextSpare) {
    FailurePolicy policy;
    policy.repair = seconds(100);
    policy.spares = 1;
    const auto made =
        with_failures({0, 1}, {}, {{seconds(10), 1}, {seconds(50), 0}}, policy, 4, seconds(1000));
    // Rank 1 fails and the spare 2 replaces it. Rank 0 fails without a spare. Rank 1 is repaired at
    // 110 and joins.
    ASSERT_EQ(made.size(), 4U);
    EXPECT_EQ(made[0].remove.ranks, (Members{1}));
    EXPECT_TRUE(made[0].died);
    EXPECT_EQ(made[1].add.ranks, (Members{2}));
    EXPECT_EQ(made[1].method, Method::kJoin);
    EXPECT_EQ(made[2].remove.ranks, (Members{0}));
    EXPECT_EQ(made[3].at.time, seconds(110));
    EXPECT_EQ(made[3].add.ranks, (Members{1}));
    ChangeProblems problems;
    const auto steps = follow_changes({0, 1}, made, 4, problems);
    EXPECT_TRUE(problems.empty());
    EXPECT_EQ(steps.back().members, (Members{1, 2}));
}

TEST(Failures, ARestartTakesTheSpareAtOnceAndTheLastMemberStays) {
    FailurePolicy policy;
    policy.method = Method::kRestart;
    policy.repair = seconds(kDay);
    policy.spares = 1;
    const auto made =
        with_failures({0}, {}, {{seconds(10), 0}, {seconds(50), 1}}, policy, 4, seconds(1000));
    ASSERT_EQ(made.size(), 1U);
    EXPECT_EQ(made[0].add.ranks, (Members{1}));
}

TEST(Failures, OfWhoDoesNotTrainArePassedOverAndPlannedChangesKeepTheirPlace) {
    Change grow;
    grow.at.time = seconds(20);
    grow.method = Method::kJoin;
    grow.add.count = 1;
    grow.written = 0;
    FailurePolicy policy;
    policy.repair = seconds(5);
    const auto made = with_failures(
        {0, 1}, {grow}, {{seconds(10), 3}, {seconds(30), 2}}, policy, 4, seconds(1000));
    ASSERT_EQ(made.size(), 3U);
    EXPECT_EQ(made[0].written, 0U);
    EXPECT_EQ(made[0].add.ranks, (Members{2}));
    EXPECT_EQ(made[1].remove.ranks, (Members{2}));
    EXPECT_EQ(made[2].at.time, seconds(35));
}

TEST(Failures, AFileIsReadOrToldWrongByLines) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "failures.csv";
    std::ofstream(path) << "seconds,gpu\n1.5,3\n20,0\n";
    const auto failures = read_failures(path);
    ASSERT_EQ(failures.size(), 2U);
    EXPECT_EQ(failures[0].at, Time(1'500'000'000'000));
    EXPECT_EQ(failures[0].gpu, 3U);
    std::ofstream(path) << "time,gpu\n20,0\n1,x\n3,1\n";
    try {
        static_cast<void>(read_failures(path));
        FAIL();
    } catch (const ConfigError& error) {
        ASSERT_EQ(error.problems().size(), 3U);
        EXPECT_EQ(error.problems()[0].pointer, "line 1");
        EXPECT_EQ(error.problems()[1].pointer, "line 3");
        EXPECT_EQ(error.problems()[2].pointer, "line 4");
    }
}

}  // namespace
}  // namespace switchfold::elastic::failures_test
