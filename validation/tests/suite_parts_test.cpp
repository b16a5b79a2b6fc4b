// SPDX-License-Identifier: Apache-2.0
#include "core/byte_codec.h"
#include "validation/harness/suite.h"

#include <gtest/gtest.h>

namespace switchfold::validation::suite_parts_test {
namespace {

TEST(SuiteParts, AppendsWhatWasSentToTheLastBit) {
    SuiteResult sent;
    sent.cases.push_back({"a/1", "a", "time", "us", 0.1, 1.0 / 3, std::nullopt, 2e-300, true, "x"});
    sent.cases.push_back({"a/2", "a", "time", "us", 5, std::nullopt, 7, 6, false, ""});
    sent.cases[1].like = {"collective", "all_reduce", "ring", "Hopper", "switched", 64, 0, 8, 2};
    sent.cases[1].machine = "HGX H100";
    sent.unmatched.push_back({"b", "no \"machine\""});
    sent.notes = {"one", "two"};
    SuiteResult suite;
    suite.notes = {"zero"};
    append(value_of_bytes<SuiteResult>(value_bytes(sent)), suite);
    ASSERT_EQ(suite.cases.size(), 2U);
    const Case& first = suite.cases[0];
    EXPECT_EQ(first.id, "a/1");
    EXPECT_EQ(first.group, "a");
    EXPECT_EQ(first.quantity, "time");
    EXPECT_EQ(first.unit, "us");
    EXPECT_EQ(first.measured, 0.1);
    EXPECT_EQ(first.low, 1.0 / 3);
    EXPECT_EQ(first.high, std::nullopt);
    EXPECT_EQ(first.simulated, 2e-300);
    EXPECT_TRUE(first.fitted);
    EXPECT_EQ(first.how, "x");
    EXPECT_EQ(suite.cases[1].low, std::nullopt);
    EXPECT_EQ(suite.cases[1].high, 7.0);
    EXPECT_EQ(first.like, intervals::Likeness());
    EXPECT_EQ(suite.cases[1].like, sent.cases[1].like);
    EXPECT_EQ(suite.cases[1].machine, "HGX H100");
    ASSERT_EQ(suite.unmatched.size(), 1U);
    EXPECT_EQ(suite.unmatched[0].why, "no \"machine\"");
    EXPECT_EQ(suite.notes, (std::vector<std::string>{"zero", "one", "two"}));
}

}  // namespace
}  // namespace switchfold::validation::suite_parts_test
