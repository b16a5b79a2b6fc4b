// SPDX-License-Identifier: Apache-2.0
#include "sim/results/slowdowns.h"

#include "sim/results/causes.h"

#include <gtest/gtest.h>

namespace switchfold::slowdowns_test {
namespace {

PhaseTimes of(double forward, double backward) {
    PhaseTimes times;
    times.forward = forward;
    times.backward = backward;
    return times;
}

/// Forward loses 30 us of 100, of which 20 come with the first mechanism, whatever else is on.
RunTimes with_causes() {
    RunTimes times{of(100, 200), of(130, 200), true, of(50, 100), {}};
    times.there = kAllMechanisms;
    for (const MechanismSet on : cause_runs(times.there))
        times.with[on] = of((on & 1U) != 0 ? 65 : 55, 100);
    return times;
}

TEST(Slowdowns, EachPhaseHasItsOwnAndItsCausesAddUpToIt) {
    ScenarioFigures figures;
    tell_slowdowns(with_causes(), figures);
    ASSERT_TRUE(figures.forward_slowdown && figures.forward_causes && figures.causes);
    EXPECT_NEAR(*figures.forward_slowdown, 0.3, 1e-12);
    EXPECT_NEAR(figures.forward_causes->sm, 0.2, 1e-12);
    EXPECT_NEAR(figures.forward_causes->other, 0.1, 1e-12);
    EXPECT_NEAR(*figures.backward_slowdown, 0, 1e-12);
    EXPECT_NEAR(figures.causes->other, 0, 1e-12);
}

TEST(Slowdowns, APhaseWithoutTimeHasNone) {
    ScenarioFigures figures;
    tell_slowdowns(with_causes(), figures);
    EXPECT_FALSE(figures.optimizer_slowdown || figures.optimizer_causes);
    EXPECT_FALSE(figures.other_slowdown || figures.other_causes);
    EXPECT_FALSE(figures.kernel_slowdown || figures.kernel_causes);
}

TEST(Slowdowns, WhatIsUnmeasuredMakesARange) {
    RunTimes times = with_causes();
    ScenarioFigures measured;
    tell_slowdowns(times, measured);
    EXPECT_FALSE(measured.forward_slowdown_low || measured.backward_slowdown_low);
    times.unmeasured = mechanism_of(&Contention::sm);
    ScenarioFigures range;
    tell_slowdowns(times, range);
    ASSERT_TRUE(range.forward_slowdown_low && range.backward_slowdown_low);
    EXPECT_NEAR(*range.forward_slowdown_low, 0.1, 1e-12);
    EXPECT_NEAR(*range.forward_slowdown, 0.3, 1e-12);
    EXPECT_NEAR(*range.backward_slowdown_low, 0, 1e-12);
    EXPECT_FALSE(range.optimizer_slowdown_low);
}

TEST(Slowdowns, WithoutOverlapNothingIsACause) {
    RunTimes times = with_causes();
    times.with.clear();
    ScenarioFigures overlapped;
    tell_slowdowns(times, overlapped);
    EXPECT_TRUE(overlapped.forward_slowdown);
    EXPECT_FALSE(overlapped.forward_causes);  // unknown is not zero
    times.overlap = false;
    ScenarioFigures serial;
    tell_slowdowns(times, serial);
    ASSERT_TRUE(serial.forward_causes);
    EXPECT_NEAR(serial.forward_causes->other, 0.3, 1e-12);
}

}  // namespace
}  // namespace switchfold::slowdowns_test
