// SPDX-License-Identifier: Apache-2.0
#include "validation/plans/regret.h"

#include <gtest/gtest.h>

#include <vector>

namespace switchfold::validation::regret_test {
namespace {

TEST(Regret, IsWhatTheChosenPlanLosesAgainstTheFastestMeasured) {
    const std::vector<JudgedPlan> plans{
        {"a", 1.0, 5.0, -8.0},   // fastest in the measurement
        {"a", 1.2, 4.0, {}},     // fastest in the simulation: regret 0.2
        {"a", 1.5, 9.0, -16.0},  // chosen by the rule: regret 0.5
        {"b", 3.0, 1.0, {}},     // fastest in both
        {"b", 4.0, 2.0, {}}};
    const Regret chosen =
        regret_of(plans, [](const JudgedPlan& plan) { return std::optional(plan.simulated); });
    EXPECT_EQ(chosen.tasks, 2U);
    EXPECT_EQ(chosen.right, 1U);
    EXPECT_NEAR(chosen.mean, 0.1, 1e-12);
    EXPECT_NEAR(chosen.worst, 0.2, 1e-12);
    EXPECT_NEAR(chosen.wrong_share(), 0.5, 1e-12);
    const Regret rule = regret_of(plans, [](const JudgedPlan& plan) { return plan.rule; });
    EXPECT_EQ(rule.tasks, 1U);
    EXPECT_NEAR(rule.mean, 0.5, 1e-12);
}

}  // namespace
}  // namespace switchfold::validation::regret_test
