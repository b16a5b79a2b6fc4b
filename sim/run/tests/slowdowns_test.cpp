// SPDX-License-Identifier: Apache-2.0
#include "sim/run/results/slowdowns.h"

#include "sim/run/results/causes.h"

#include <gtest/gtest.h>

namespace switchfold::slowdowns_test {
namespace {

PhaseTimes of(double forward, double backward) {
    PhaseTimes times;
    times.forward = forward;
    times.backward = backward;
    return times;
}

/// Forward loses 30 us of 100, of which 20 go away without the first mechanism.
RunTimes with_causes() {
    RunTimes times{of(100, 200), of(130, 200), true, of(50, 100), {}};
    times.without.assign(kMechanismCount + 1, of(65, 100));
    times.without[0] = of(55, 100);
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

TEST(Slowdowns, WithoutOverlapNothingIsACause) {
    RunTimes times = with_causes();
    times.without.clear();
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
