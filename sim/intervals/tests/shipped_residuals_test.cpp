// SPDX-License-Identifier: Apache-2.0
#include "sim/intervals/coverage.h"
#include "sim/intervals/residuals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>

namespace switchfold::intervals::shipped_residuals_test {
namespace {

constexpr double kFewest = 0.85;
constexpr double kMost = 0.95;

bool holds(const Coverage& c) {
    return c.share() >= kFewest && c.share() <= kMost;
}

const Residuals& shipped() {
    static const Residuals kShipped =
        Residuals::read(SWITCHFOLD_SOURCE_DIR "/validation/data/residuals.csv");
    return kShipped;
}

/// Leaves machines out once for all tests: 90 % ranges, a quarter of them, twice, and half.
const std::vector<std::vector<Coverage>>& left_out() {
    static const auto kFound = leave_machines_out(
        shipped(),
        std::array{Nominal{0.9, 1}, Nominal{0.9, 0.25}, Nominal{0.9, 2}, Nominal{0.9, 0.5}});
    return kFound;
}

TEST(ShippedResiduals, AreOfKnownKindsAndFinite) {
    const std::set<std::string> kinds{"collective", "kernel", "overlap", "step", "change"};
    ASSERT_GT(shipped().all().size(), 3000U);
    for (const Residual& r : shipped().all()) {
        EXPECT_TRUE(kinds.contains(r.of.kind)) << r.of.kind;
        EXPECT_FALSE(r.machine.empty()) << r.table;
        EXPECT_TRUE(std::isfinite(r.log_ratio)) << r.table;
        EXPECT_TRUE(r.standing == "unseen" || r.standing == "chosen" || r.standing == "fitted")
            << r.standing;
    }
}

TEST(ShippedResiduals, RangesHoldNineOfTenValuesOfMachinesLeftOut) {
    bool any = false;
    for (const Coverage& c : left_out()[0])
        if (c.machines >= kMachinesToTell) {
            any = true;
            EXPECT_TRUE(holds(c)) << c.kind << ": " << c.share() << " of " << c.cases << " on "
                                  << c.machines << " machines";
        }
    EXPECT_TRUE(any);
}

/// Else the test above could not fail.
TEST(ShippedResiduals, AQuarterOfRangesDoesNotHoldAndTwiceHoldsMore) {
    for (std::size_t kind = 0; kind < left_out()[0].size(); ++kind) {
        const Coverage& c = left_out()[0][kind];
        if (c.machines < kMachinesToTell)
            continue;
        EXPECT_FALSE(holds(left_out()[1][kind])) << c.kind << left_out()[1][kind].share();
        EXPECT_GT(left_out()[2][kind].share(), c.share()) << c.kind;
        // Half a range of steps holds 87 %: most are within a tenth, and few are far off.
        EXPECT_LT(left_out()[3][kind].share(), c.share()) << c.kind;
        if (c.kind == "collective") {
            EXPECT_FALSE(holds(left_out()[3][kind])) << left_out()[3][kind].share();
        }
    }
}

TEST(ShippedResiduals, RatiosOfAlgorithmsAreTighterThanEither) {
    const RatioCoverage ratios = leave_machines_out_of_ratios(shipped(), {});
    ASSERT_GT(ratios.coverage.cases, 50U);
    EXPECT_GE(ratios.coverage.share(), kFewest);
    EXPECT_LT(ratios.coverage.median_width, ratios.median_width_alone);
}

TEST(ShippedResiduals, AMachinesOwnHalfTellsTheOtherAndIsTighter) {
    const Coverage own = halve_machines(shipped(), "collective", {});
    EXPECT_LT(own.unmeasured, own.cases / 20);
    EXPECT_TRUE(holds(own)) << own.share();
    const auto others =
        std::find_if(left_out()[0].begin(), left_out()[0].end(), [](const Coverage& c) {
            return c.kind == "collective";
        });
    EXPECT_LT(own.median_width, 0.7 * others->median_width);
    EXPECT_FALSE(holds(halve_machines(shipped(), "collective", {0.9, 0.25})));
}

TEST(ShippedResiduals, PairsOfStepsAreTighterThanStepsOfTwoMachines) {
    Likeness step;
    step.kind = "step";
    step.operation = "training";
    step.generation = "Ampere";
    step.fabric = "switched";
    step.ranks = 8;
    const Range pair = shipped().range_of_pairs(step);
    ASSERT_TRUE(pair.measured());
    const Range one = shipped().range(step);
    EXPECT_LT(pair.high / pair.low, std::pow(one.high / one.low, 2));
}

TEST(ShippedResiduals, WhatNothingIsLikeIsUnmeasured) {
    Likeness future;
    future.kind = "kernel";
    future.operation = "optical_switching";
    future.algorithm = "light";
    future.generation = "CDNA 4";
    future.fabric = "torus";
    future.us = 1e9;
    EXPECT_FALSE(shipped().range(future).measured());
}

}  // namespace
}  // namespace switchfold::intervals::shipped_residuals_test
