// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/tests/temporary_folder.h"
#include "validation/training/learning_orders.h"
#include "validation/training/schedule_rows.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace switchfold::validation::training_rows_test {
namespace {

class TrainingRows : public ::testing::Test {
protected:
    [[nodiscard]] std::filesystem::path write(const std::string& text) const {
        const auto path = folder_.path() / "rows.csv";
        std::ofstream(path) << text;
        return path;
    }
    TemporaryFolder folder_;
};

constexpr const char* kSchedules =
    "id,schedule,stages,micro_batches,chunks,stage,t_f_ms,t_b_ms,t_w_ms,t_comm_ms,quantity,value\n";

TEST_F(TrainingRows, ComparesBubblesAndWholeNumbers) {
    SuiteResult result;
    compare_schedules(
        write(
            std::string(kSchedules) + "a,1f1b,4,8,1,,1,1,1,0,bubble_share,0.272727\n"  // 3 / 11
                                      "b,zb_h2,4,16,1,,1,1,1,0,bubble_share,0\n"
                                      "c,1f1b_async,4,,,1,,,,,forward_updates_missed,2\n"
                                      "d,bidirectional,4,8,1,,1,1,1,0,bubble_share,0.1\n"
                                      "e,1f1b,4,8,1,,,,,,bubble_share,0.1\n"),
        result);
    ASSERT_EQ(result.cases.size(), 3U);
    EXPECT_NEAR(result.cases[0].simulated, 3.0 / 11, 1e-9);
    EXPECT_EQ(result.cases[1].error(), result.cases[1].simulated) << "of 0 the difference";
    EXPECT_EQ(result.cases[2].simulated, 2);
    ASSERT_EQ(result.unmatched.size(), 2U);
    EXPECT_EQ(result.unmatched[0].why, "no schedule bidirectional");
    for (const Verdict& verdict : result.verdicts)
        EXPECT_TRUE(verdict.kept()) << verdict.what;
}

TEST_F(TrainingRows, TellsBadNumbersWithTheirLine) {
    SuiteResult result;
    try {
        compare_schedules(
            write(std::string(kSchedules) + "a,1f1b,four,8,1,,1,1,1,0,bubble_share,x\n"), result);
        FAIL() << "took it";
    } catch (const ConfigError& error) {
        EXPECT_NE(
            std::string(error.what()).find("line 2: value is \"x\"; expected a number from 0"),
            std::string::npos)
            << error.what();
    }
}

TEST_F(TrainingRows, ComparesWhichOfTwoMethodsLearnsBetter) {
    SuiteResult result;
    SuiteOptions options;
    options.root = SWITCHFOLD_SOURCE_DIR;
    options.jobs = 2;
    const auto table = write(
        "id,model,schedule,stages,quantity,value\n"
        "a,Net,data_parallel,2,best_validation_accuracy_percent,90.1\n"
        "b,Net,1f1b_async latest,2,best_validation_accuracy_percent,88.5\n"
        "c,Net,1f1b_async stash,2,best_validation_accuracy_percent,92\n"
        "d,Other,data_parallel,2,best_validation_accuracy_percent,95.1\n"
        "e,Other,\"1f1b_async latest, then sequential\",2,best_validation_accuracy_percent,90\n"
        "f,Other,1f1b_async latest,2,best_validation_accuracy_percent,95.3\n");
    compare_learning(table, options, result);
    ASSERT_EQ(result.cases.size(), 3U);
    EXPECT_EQ(result.cases[0].id, "Net, 2 stages: synchronous over 1f1b_async latest");
    EXPECT_EQ(result.cases[0].simulated, 1);
    EXPECT_EQ(result.cases[1].id, "Net, 2 stages: 1f1b_async stash over synchronous");
    EXPECT_EQ(result.cases[1].simulated, -1) << "stale gradients do not learn better";
    ASSERT_EQ(result.unmatched.size(), 3U);
    EXPECT_EQ(result.unmatched[0].id, "e");
    EXPECT_EQ(result.unmatched[1].id, "d");
    EXPECT_EQ(result.unmatched[2].id, "f");
}

}  // namespace
}  // namespace switchfold::validation::training_rows_test
