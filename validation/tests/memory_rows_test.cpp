// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/tests/temporary_folder.h"
#include "validation/harness/suite.h"
#include "validation/memory/memory_row.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace switchfold::validation::memory_rows_test {
namespace {

constexpr const char* kHeader =
    "id,source,network,batch,capacity_mib,input,policy,quantity,value,unit,kind\n";

class MemoryRows : public ::testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(folder_.path() / "models"); }
    /// Runs the suite on a folder of made-up measurements. The network has two layers with 1 and 3
    /// MiB of weights and outputs of 2 and 1 MiB.
    SuiteResult run(const std::string& rows) {
        std::filesystem::create_directories(folder_.path() / "reference/training");
        std::ofstream(folder_.path() / "reference/training/memory.csv") << kHeader << rows;
        std::ofstream(folder_.path() / "models/two.csv")
            << "layer,type,params,fwd_macs_per_sample,out_elems_per_sample\n"
               "a,linear,262144,1,524288\n"
               "b,linear,786432,1,262144\n";
        SuiteOptions options;
        options.root = SWITCHFOLD_SOURCE_DIR;
        options.measurements = folder_.path();
        return suite_named("memory").run(options);
    }
    TemporaryFolder folder_;
};

TEST_F(MemoryRows, PinsAndGradientsComeFromTheTablesBeside) {
    // The candidates are a_0 (1 MiB), h_1 (1 MiB) and h_2 (3 MiB).
    const SuiteResult result =
        run("pin_two_candidates,,two,1,,262144 tokens,,candidate_bytes,5,MiB,derived\n"
            "pin_two_big,,two,1,100,262144 tokens,optimal window,pinned_bytes,5,MiB,derived\n"
            "pin_two_other,,two,1,100,262144 tokens,\"first_fit candidates in the order of first "
            "use\",pinned_bytes,4,MiB,derived\n"
            "grad_two,,two,,,,\"delayed, one buffer of the largest "
            "layer\",gradient_memory_saved,25,percent,derived\n"
            "pin_none,,three,1,,8 tokens,,candidate_bytes,5,MiB,derived\n"
            "x_y,,VGG,1,,,,largest_batch,5,samples,measured\n"
            "a,,any,,,,g16 on the host,bytes_a_parameter_on_gpu,14,B,measured\n");
    ASSERT_EQ(result.cases.size(), 5U);
    EXPECT_EQ(result.cases[0].simulated, 5);
    EXPECT_EQ(result.cases[1].simulated, 5);
    EXPECT_EQ(result.cases[2].simulated, 5);
    EXPECT_NEAR(result.cases[3].simulated, 25, 1e-9);
    EXPECT_EQ(result.cases[4].simulated, 14);
    ASSERT_EQ(result.unmatched.size(), 2U);
    EXPECT_EQ(result.unmatched[0].why, "no table models/three.csv");
    EXPECT_NE(result.unmatched[1].why.find("framework"), std::string::npos);
    ASSERT_EQ(result.verdicts.size(), 4U);
    EXPECT_TRUE(result.verdicts[0].kept());
    EXPECT_FALSE(result.verdicts[1].kept()) << "a greedy row that differs";
    EXPECT_TRUE(result.verdicts[2].kept());
    EXPECT_TRUE(result.verdicts[3].kept());
    EXPECT_EQ(
        result.notes.front(), "5 of 7 rows are answered; the others are listed with the reason");
}

TEST_F(MemoryRows, SaysWhatIsWrongWithTheTable) {
    try {
        (void)run("a,,two,none,,,,q,1,MiB,derived\nb,,two,1,,,,q,x,MiB,derived\n");
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_NE(std::string(error.what()).find("line 2"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("line 3"), std::string::npos);
    }
}

TEST_F(MemoryRows, PublishedRulesGiveTheirNumbers) {
    const auto answered = [&](const char* rule) {
        MemoryRow row;
        row.rule = rule;
        return memory_rule(rule)(row, SuiteOptions()).value.value();
    };
    EXPECT_DOUBLE_EQ(answered("backward_of_lrn1"), 4.0 * 96 * 55 * 55 * 4 * 200 / (1024 * 1024));
    EXPECT_NEAR(answered("updated_after_backward"), 6.09, 0.005);
    EXPECT_NEAR(answered("updated_inside_backward"), 4.05, 4.05 * 0.03);
    EXPECT_NEAR(answered("forward_of_first_relu"), 5.86, 0.005);
    EXPECT_NEAR(answered("feature_maps"), 15.6, 0.05);
    EXPECT_NEAR(answered("vgg19_sample"), 91.8, 0.1);
    EXPECT_NEAR(answered("lost_by_parameters"), 0.246, 0.0005);
    EXPECT_NEAR(answered("lost_by_optimizer"), 0.100, 0.0005);
}

/// The rate of a host's updates was chosen on these rows, and they are marked so.
TEST_F(MemoryRows, UpdatesByAHostTakeItsRate) {
    const SuiteResult result = run("a,\"Ren et al., ZeRO-Offload\",4 billion parameters,1,,,"
                                   "CPU-Adam,update_time,1.03,s,measured\n");
    ASSERT_EQ(result.cases.size(), 1U);
    EXPECT_NEAR(result.cases[0].simulated, 1, 1e-9);
    EXPECT_TRUE(result.cases[0].fitted);
}

/// Checkmate's largest batches of VGG-19 in 16 GB by rule: 167, 197, 266 and 289.
TEST_F(MemoryRows, LargestBatchesOfCheckmatesVgg19AreNear) {
    const SuiteResult result =
        run("square-root,\"Jain et al., Checkmate\",VGG-19,1,,,square-root "
            "checkpoints,largest_batch,197,samples,measured\n"
            "greedy,\"Jain et al., Checkmate\",VGG-19,1,,,greedy "
            "checkpoints,largest_batch,266,samples,measured\n"
            "optimal,\"Jain et al., "
            "Checkmate\",VGG-19,1,,,optimal,largest_batch,289,samples,measured\n");
    ASSERT_EQ(result.cases.size(), 3U);
    EXPECT_NEAR(result.cases[0].error(), 0, 0.03);
    EXPECT_NEAR(result.cases[1].error(), 0, 0.06);  // the source's budgets are not published
    EXPECT_NEAR(result.cases[2].error(), 0, 0.03);
    ASSERT_FALSE(result.verdicts.empty());
    EXPECT_LT(result.verdicts.back().value, 0.03);
    EXPECT_GE(result.cases[2].simulated, result.cases[1].simulated);
    EXPECT_GE(result.cases[1].simulated, result.cases[0].simulated);
}

}  // namespace
}  // namespace switchfold::validation::memory_rows_test
