// SPDX-License-Identifier: Apache-2.0
#include "training/memory/offload/first_fit.h"

#include "training/memory/tests/random_offload.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

namespace switchfold::first_fit_test {
namespace {

/// Items of sizes 1 and `budget`, each open in a step of its own. A third step holds scratch alone
/// and sets the peak, so retaining never lowers it.
OffloadProblem one_and_budget(std::uint64_t budget) {
    OffloadProblem problem;
    problem.factor = 2;
    problem.bytes = {1, budget};
    problem.copies = {2, 2};
    problem.items = {0, 1};
    problem.windows = {{0, {0}}, {0, {1}}, {2 * budget, {}}};
    return problem;
}

TEST(FirstFit, HasNoConstantRatioToTheOptimum) {
    const OffloadProblem problem = one_and_budget(100);
    const std::vector<std::uint32_t> bad{0, 1};
    const std::vector<std::uint32_t> good{1, 0};
    EXPECT_EQ(retained_bytes(problem, first_fit(problem, 500, bad).value()), 1U);
    EXPECT_EQ(retained_bytes(problem, first_fit(problem, 500, good).value()), 100U);
}

TEST(FirstFit, RefusesLessThanTwiceThePeak) {
    const OffloadProblem problem = one_and_budget(100);
    const std::vector<std::uint32_t> order{0, 1};
    EXPECT_FALSE(first_fit(problem, 399, order).has_value());
    EXPECT_TRUE(first_fit(problem, 400, order).has_value());
}

TEST(FirstFit, LowersThePeakFirst) {
    // Only the first step matters: retaining its larger candidate frees twice that candidate's
    // size.
    OffloadProblem problem;
    problem.factor = 2;
    problem.bytes = {50, 30};
    problem.copies = {2, 2};
    problem.items = {0, 1};
    problem.windows = {{10, {0, 1}}, {5, {}}};
    const std::vector<std::uint32_t> order{0, 1};
    // Nothing retained needs 2 x 90 = 180 bytes; 80 retained and 2 x 10 fit as well.
    EXPECT_EQ(retained_bytes(problem, first_fit(problem, 180, order).value()), 80U);
}

RC_GTEST_PROP(FirstFit, FitsAndSeededOrdersRepeat, ()) {
    const TensorUses schedule = test_data::random_schedule();
    const OffloadProblem problem = offload_problem(schedule, Staging::kDoublePeak);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto order = seeded_order(problem, seed);
    RC_ASSERT(order == seeded_order(problem, seed));
    std::vector<std::uint32_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::uint32_t> all(problem.size());
    std::iota(all.begin(), all.end(), 0U);
    RC_ASSERT(sorted == all);
    const auto capacity = *rc::gen::inRange<std::uint64_t>(50, 600);
    const auto retained = first_fit(problem, capacity, order);
    RC_PRE(retained.has_value());
    RC_ASSERT(retained_bytes(problem, *retained) + staging_bytes(problem, *retained) <= capacity);
}

}  // namespace
}  // namespace switchfold::first_fit_test
