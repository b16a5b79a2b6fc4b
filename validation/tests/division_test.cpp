// SPDX-License-Identifier: Apache-2.0
#include "validation/elastic/division.h"

#include "training/plan/division/step_table.h"

#include <gtest/gtest.h>

#include <cmath>

namespace switchfold::validation::division_test {
namespace {

TEST(Division, ThreeHundredImagesAreAsWorkedOutByHand) {
    SuiteResult result;
    add_division(
        read_step_table(SWITCHFOLD_SOURCE_DIR "/configs/examples/resnet50_steps.csv"), result);
    ASSERT_EQ(result.cases.size(), 3U);
    for (const Case& one : result.cases)
        EXPECT_LT(std::abs(one.error()), 0.002) << one.id;
    EXPECT_EQ(result.cases[1].how, "300 images: 190/68/42");
    ASSERT_EQ(result.verdicts.size(), 1U);
    EXPECT_TRUE(result.verdicts.front().kept());
}

TEST(Division, RowsOfOneGpuAreUnmatched) {
    SuiteResult result;
    add_division({{"A100", {{20, 0.1}}}}, result);
    EXPECT_TRUE(result.cases.empty());
    ASSERT_EQ(result.unmatched.size(), 1U);
}

}  // namespace
}  // namespace switchfold::validation::division_test
