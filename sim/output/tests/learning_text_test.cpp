// SPDX-License-Identifier: Apache-2.0
#include "sim/output/learning_text.h"

#include "core/record_json.h"
#include "sim/output/tests/sample.h"
#include "sim/output/writers.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace switchfold::learning_text_test {
namespace {

ExperimentResult learned() {
    ExperimentResult result = sample_result();
    LearningResult& one = result.scenarios[0].learning.emplace();
    one.weights = "latest";
    one.learning_rate = 0.1;
    one.target = 0.25;
    one.step_us = 1234.56;
    one.final_loss = SeedMean{0.125, 0.01};
    one.steps_to_target = SeedMean{40, {}};
    one.seconds_to_target = SeedMean{0.05, 0.001};
    one.reached = 1;
    one.seeds = {{7, 0.125, 40, 0.05, {}}};
    one.curve = {{0, 0, 1, {}}, {40, 0.05, 0.125, {}}};
    one.stages.resize(2);
    one.stages[0].forward_missed = 1;
    one.stages[0].forward_to_batch_order = {0.5, 1};
    LearningResult& two = result.scenarios[1].learning.emplace();
    two = one;
    two.final_loss.reset();
    two.steps_to_target.reset();
    two.seconds_to_target.reset();
    two.reached = 0;
    two.diverged = 1;
    two.seeds = {{7, std::numeric_limits<double>::quiet_NaN(), {}, {}, 12}};
    return result;
}

TEST(LearningTable, SaysMeansAndWhatHasNone) {
    const std::string table = learning_table(learned());
    EXPECT_NE(table.find("0.125 +- 0.01"), std::string::npos) << table;
    EXPECT_NE(table.find("50 +- 1"), std::string::npos) << table;
    EXPECT_NE(table.find("1 of 1 diverged"), std::string::npos) << table;
    EXPECT_NE(table.find("never"), std::string::npos) << table;
    EXPECT_NE(
        table.find("ring: seed 7 diverged at step 12, learning rate 0.1\n"), std::string::npos)
        << table;
    EXPECT_EQ(learning_table(sample_result()), "");
    ExperimentResult slow = learned();
    slow.scenarios[0].learning->seconds_to_target = SeedMean{20.361, 7.96};
    EXPECT_NE(learning_table(slow).find("20360 +- 8000"), std::string::npos)
        << learning_table(slow);
    ExperimentResult partly = learned();
    partly.scenarios[0].learning->steps_to_target.reset();
    partly.scenarios[0].learning->seeds.push_back({8, 0.3, {}, {}, {}});
    EXPECT_NE(learning_table(partly).find("1 of 2 seeds"), std::string::npos);
}

TEST(LearningJson, HasNullForWhatIsNoNumber) {
    const ExperimentResult result = learned();
    const OrderedJson one = record_json(*result.scenarios[0].learning);
    EXPECT_EQ(one["final_loss"]["mean"], 0.125);
    EXPECT_EQ(one["steps_to_target"]["half_width"], nullptr);
    EXPECT_EQ(one["stages"][0]["rmse_forward_to_batch_order"]["used"], 0.5);
    EXPECT_EQ(one["curve"][1]["step"], 40);
    const OrderedJson two = record_json(*result.scenarios[1].learning);
    EXPECT_EQ(two["final_loss"], nullptr);
    EXPECT_EQ(two["seeds"][0]["final_loss"], nullptr);
    EXPECT_EQ(two["seeds"][0]["diverged_at_step"], 12);
    EXPECT_NE(to_result_json(result).find("\"learning\""), std::string::npos);
    EXPECT_EQ(to_result_json(sample_result()).find("\"learning\""), std::string::npos);
}

TEST(LearningCsv, HasALineAPoint) {
    EXPECT_EQ(learning_csv_line("a,b", {3, 10, 0.5, 0.25}), "\"a,b\",3,10,0.5,0.25\n");
    EXPECT_EQ(version_csv_line("a", {1, 5, false, 4, 5, 6, 2}), "a,backward,5,1,4,2,5,6\n");
}

}  // namespace
}  // namespace switchfold::learning_text_test
