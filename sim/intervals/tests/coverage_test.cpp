// SPDX-License-Identifier: Apache-2.0
#include "sim/intervals/coverage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace switchfold::intervals::coverage_test {
namespace {

Residual residual(std::string machine, double log_ratio, std::string algorithm) {
    Residual r;
    r.of.kind = "collective";
    r.of.operation = "all_reduce";
    r.of.algorithm = std::move(algorithm);
    r.of.bytes = 1 << 20;
    r.of.ranks = 8;
    r.machine = std::move(machine);
    r.table = "t";
    r.log_ratio = log_ratio;
    return r;
}

/// Machines whose errors are their own, and little by algorithm.
Residuals even(int count) {
    std::vector<Residual> rows;
    for (int i = 0; i < count; ++i) {
        const double own = 0.4 * i / (count - 1) - 0.2;
        rows.push_back(residual("m" + std::to_string(i), own, "ring"));
        rows.push_back(
            residual("m" + std::to_string(i), own + (i % 2 == 0 ? 0.01 : -0.01), "tree"));
    }
    return Residuals(std::move(rows));
}

TEST(Coverage, RangesOfOtherMachinesHoldAsManyAsTheyShall) {
    const std::array nominal{Nominal{0.9, 1}, Nominal{0.5, 1}, Nominal{0.9, 0.5}};
    const auto found = leave_machines_out(even(60), nominal);
    ASSERT_EQ(found.size(), 3U);
    ASSERT_EQ(found[0].size(), 1U);
    EXPECT_EQ(found[0][0].kind, "collective");
    EXPECT_EQ(found[0][0].machines, 60U);
    EXPECT_EQ(found[0][0].cases, 120U);
    EXPECT_NEAR(found[0][0].share(), 0.9, 0.05);
    EXPECT_NEAR(found[1][0].share(), 0.5, 0.1);
    EXPECT_NEAR(found[2][0].share(), 0.45, 0.05);
    EXPECT_NEAR(found[0][0].median_width, 0.36, 0.02);
}

TEST(Coverage, AMachineAloneIsUnmeasured) {
    const std::array nominal{Nominal{}};
    const auto found = leave_machines_out(
        Residuals({residual("only", 0.1, "ring"), residual("only", 0.2, "ring")}), nominal);
    EXPECT_EQ(found[0][0].unmeasured, 2U);
    EXPECT_EQ(found[0][0].share(), 0);
}

TEST(Coverage, RatiosOnAMachineAreTighterThanIfErrorsHadNothingInCommon) {
    const RatioCoverage found = leave_machines_out_of_ratios(even(60), {});
    EXPECT_EQ(found.coverage.cases, 60U);
    EXPECT_GE(found.coverage.share(), 0.9);
    EXPECT_LT(found.coverage.median_width, found.median_width_alone / 2);
}

TEST(Coverage, RangesOfPairsLeaveOutWhatTablesShare) {
    // Each machine is wrong by its own 20 %, and its cases differ by a tenth of that.
    std::vector<Residual> rows;
    constexpr int kMachines = 20;
    constexpr int kRows = 20;
    for (int m = 0; m < kMachines; ++m)
        for (int i = 0; i < kRows; ++i)
            rows.push_back(residual(
                "m" + std::to_string(m), (m % 2 == 0 ? 0.2 : -0.2) + 0.01 * (i * 3 % 7 - 3),
                "ring"));
    const Residuals residuals(rows);
    const Coverage pairs = leave_machines_out_of_pairs(residuals, "collective", {});
    EXPECT_EQ(pairs.cases, static_cast<std::size_t>(kMachines * kRows / 2));
    EXPECT_EQ(pairs.machines, static_cast<std::size_t>(kMachines));
    EXPECT_GE(pairs.share(), 0.9);
    EXPECT_LT(pairs.median_width, 0.2);
    EXPECT_GT(leave_machines_out(residuals, std::array{Nominal{}})[0][0].median_width, 0.35);
    EXPECT_LT(leave_machines_out_of_pairs(residuals, "collective", {0.5, 0.25}).share(), 0.5);
}

TEST(Coverage, APairNeedsATableOfTwo) {
    const Residuals residuals({residual("one", 0.1, "ring"), residual("other", 0.2, "ring")});
    EXPECT_FALSE(residuals.range_of_pairs(residuals.all()[0].of).measured());
    EXPECT_EQ(leave_machines_out_of_pairs(residuals, "collective", {}).cases, 0U);
}

}  // namespace
}  // namespace switchfold::intervals::coverage_test
