// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/tests/temporary_folder.h"
#include "validation/training/learning_orders.h"
#include "validation/training/schedule_rows.h"
#include "validation/training/step_rows.h"

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
constexpr const char* kSteps =
    "id,source,gpu,n_gpus,n_nodes,interconnect,framework,model,layers,hidden,heads,vocabulary,"
    "sequence,tp,pp,dp,chunks,micro_batch,global_batch,micro_batches,schedule,recompute,precision,"
    "step_ms,samples_per_s,tflops_per_gpu,memory_gb,note\n";

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

TEST_F(TrainingRows, MakesPlansOfRowsAndSaysWhyNot) {
    const auto rows = read_step_rows(
        write(
            std::string(kSteps) +
            "a,\"Qi et al., x\",A100-SXM4-80GB,8,1,NVLink,Megatron-LM fork,GPT "
            "1.5B,22,2304,24,,1024,1,"
            "8,1,1,6,144,24,zb_h1,none,16-bit,1241,,,59,\n"
            "b,s,A100-SXM4-80GB,8,1,NVLink,x,GPT,22,2304,24,,1024,2,8,1,1,6,144,24,1f1b,none,16-"
            "bit,1,,"
            ",,\n"
            "c,s,A100-SXM4-80GB,8,1,NVLink,x,Foo,,,,,,1,8,1,1,6,144,24,1f1b,none,16-bit,1,,,,\n"
            "d,s,A100-SXM4-80GB,8,1,NVLink,x,GPT,22,2304,24,,1024,1,8,1,1,6,144,24,1f1b,none,16-"
            "bit,,,"
            ",,\n"),
        SWITCHFOLD_SOURCE_DIR);
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[0].why, "");
    EXPECT_EQ(rows[0].seconds, 1.241);
    EXPECT_EQ(rows[0].memory, 59e9);
    EXPECT_EQ(rows[0].plan.schedule, "zb_h1");
    EXPECT_EQ(rows[0].plan.attention, AttentionKernels::kUnfused);
    // 22 blocks, the embedding and the head make 8 stages of three pieces each, so the first and
    // the last stage hold two blocks.
    EXPECT_EQ(rows[0].plan.partition.size(), 8U);
    EXPECT_EQ(rows[1].why, "16 ranks on 8 GPUs");
    EXPECT_EQ(rows[2].why, "no network Foo here");
    EXPECT_EQ(rows[3].why, "it states no time of a step");
}

TEST_F(TrainingRows, PlansFollowTheFrameworksCode) {
    const auto rows = read_step_rows(
        write(
            std::string(kSteps) +
            "a,\"Qi et al., arXiv 2401.10241v1\",A100,8,1,NVLink,Megatron-LM fork,GPT "
            "1.5B,22,2304,24,,"
            "1024,1,8,1,3,6,144,24,interleaved_1f1b,none,16-bit,1,,,,\n"
            "b,\"Korthikanti et al., "
            "x\",A100,8,1,NVLink,Megatron-LM,GPT,48,6144,64,,2048,8,1,1,1,4,4,"
            "1,tensor_parallel,full,fp16,1,,,,\n"
            "c,\"Oneflow-Inc/DLPerf, "
            "x\",V100,8,1,NVLink,Megatron-LM,GPT,16,1536,16,,2048,1,1,8,1,2,"
            "16,1,data_parallel,full,fp16,1,,,,\n"
            "d,\"Oneflow-Inc/DLPerf, "
            "x\",V100,8,1,NVLink,OneFlow,GPT,16,1536,16,,2048,1,1,8,1,2,16,1,"
            "data_parallel,full,fp16,1,,,,\n"
            "e,\"Oneflow-Inc/DLPerf, "
            "x\",V100,8,1,NVLink,OneFlow,GPT,16,1536,16,,2048,8,1,1,1,16,16,1,"
            "tensor_parallel,full,fp16,1,,,,\n"
            "f,\"VIA-Research/vTrain, "
            "x\",A100,8,1,NVLink,Megatron-DeepSpeed,GPT,16,1536,16,,2048,8,1,"
            "1,1,16,16,1,tensor_parallel,full,16-bit,1,,,,\n"),
        SWITCHFOLD_SOURCE_DIR);
    ASSERT_EQ(rows.size(), 6U);
    const auto gradient = [&](std::size_t row) { return rows[row].plan.gradient; };
    EXPECT_EQ(gradient(0), Datatype::kBfloat16) << "fp16 without accumulation in 32 bits";
    EXPECT_EQ(gradient(1), Datatype::kFloat32) << "its formula counts 4 B a gradient";
    EXPECT_EQ(gradient(2), Datatype::kBfloat16);
    EXPECT_EQ(gradient(3), Datatype::kBfloat16) << "reduced before it is widened";
    EXPECT_EQ(rows[0].plan.messages, Messages::kAhead) << "overlap_p2p_comm";
    EXPECT_TRUE(rows[3].plan.overlap_gradients);
    EXPECT_FALSE(rows[2].plan.overlap_gradients);
    EXPECT_FALSE(rows[4].plan.overlap_gradients) << "nccl_use_compute_stream";
    EXPECT_TRUE(rows[3].plan.residual_dropout);
    EXPECT_TRUE(rows[1].plan.attention_dropout);
    EXPECT_TRUE(rows[5].plan.residual_dropout);
    EXPECT_TRUE(rows[0].plan.repeat_keys);
    EXPECT_FALSE(rows[1].plan.repeat_keys);
    EXPECT_EQ(rows[0].plan.norm, NormKernels::kOnePass);
    EXPECT_EQ(rows[2].plan.norm, NormKernels::kApex);
    EXPECT_EQ(rows[5].plan.norm, NormKernels::kApex);
    EXPECT_EQ(rows[1].plan.update, UpdateKernels::kUnfused);
    EXPECT_EQ(rows[3].plan.update, UpdateKernels::kFused);
    EXPECT_EQ(rows[5].plan.update, UpdateKernels::kFused) << "DeepSpeed's own optimizer";
}

TEST_F(TrainingRows, AStepThatCannotBeReadDoesNotStopTheOthers) {
    const std::string header = "id,gpu,n_gpus,model,schedule,sharding\n";
    const auto rows = read_step_rows(
        write(
            header + "a,NVIDIA H100 80GB HBM3,many,GPT,1f1b,\n"
                     "b,NVIDIA H100 80GB HBM3,8,GPT,1f1b,some\n"
                     "c,NVIDIA H100 80GB HBM3,8,GPT,1f1b,\n"),
        SWITCHFOLD_SOURCE_DIR);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_NE(rows[0].why.find("line 2: n_gpus is \"many\""), std::string::npos) << rows[0].why;
    EXPECT_NE(
        rows[1].why.find("line 3: column sharding: unknown value \"some\""), std::string::npos)
        << rows[1].why;
    EXPECT_FALSE(rows[2].unread);
    EXPECT_THROW(
        static_cast<void>(
            read_step_rows(write(header + "a,H100,many,GPT,1f1b,\n"), SWITCHFOLD_SOURCE_DIR)),
        ConfigError);
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

TEST_F(TrainingRows, FindsTablesOfNetworksThatTheProgramDoesNotName) {
    const auto rows = read_step_rows(
        write(
            std::string(kSteps) +
            "u,s,Tesla P40,2,1,PCIe 3.0 x16,torchgpipe,\"U-Net (5, 64)\",,,,,,1,2,1,1,16,512,32,"
            "gpipe,full,fp32,14420,,,,\n"
            "v,s,Tesla P40,2,1,PCIe 3.0 x16,torchgpipe,V-Net,,,,,,1,2,1,1,16,512,32,"
            "gpipe,full,fp32,14420,,,,\n"),
        SWITCHFOLD_SOURCE_DIR);
    ASSERT_EQ(rows[0].why, "");
    EXPECT_EQ(parameters(*rows[0].network), 232'687'328U);
    EXPECT_EQ(rows[1].why, "no network V-Net here");
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
