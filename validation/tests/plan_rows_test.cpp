// SPDX-License-Identifier: Apache-2.0
#include "validation/plans/plan_rows.h"

#include "core/error.h"
#include "core/tests/temporary_folder.h"
#include "validation/machines/machines.h"
#include "validation/plans/regret.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace switchfold::validation::plan_rows_test {
namespace {

class PlanRows : public ::testing::Test {
protected:
    [[nodiscard]] std::filesystem::path write(const std::string& text) const {
        const auto path = folder_.path() / "rows.csv";
        std::ofstream(path) << text;
        return path;
    }
    TemporaryFolder folder_;
};

TEST_F(PlanRows, AreStepsOfMegatronWithTheirTask) {
    const auto rows = read_plan_rows(
        write("id,source,gpu,n_gpus,interconnect,model,layers,hidden,heads,sequence,task,global_"
              "batch,tp,"
              "dp,pp,micro_batch,micro_batches,recompute,step_ms\n"
              "a,v,A100,4,NVLink,GPT,12,1024,16,1024,t,8,1,2,2,2,2,full,70\n"
              "b,v,A100,4,NVLink,GPT,12,1024,16,1024,t,8,1,4,1,2,1,full,60\n"),
        SWITCHFOLD_SOURCE_DIR);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].task, "t");
    const ParallelPlan& plan = rows[0].step.plan;
    EXPECT_EQ(rows[0].step.why, "");
    EXPECT_EQ(plan.attention, AttentionKernels::kUnfused);
    EXPECT_EQ(plan.messages, Messages::kBlocking);
    EXPECT_EQ(plan.recompute, Recompute::kFull);
    EXPECT_FALSE(plan.overlap_gradients);
    EXPECT_EQ(plan.partition.size(), 2U);
    EXPECT_FALSE(is_pure_data_parallel(rows[0].step));
    EXPECT_TRUE(is_pure_data_parallel(rows[1].step));
}

TEST_F(PlanRows, OfVtrainHaveTheVocabularyOfItsConfigurations) {
    const auto rows = read_plan_rows(
        write("id,source,gpu,n_gpus,interconnect,model,layers,hidden,heads,sequence,task,global_"
              "batch,tp,"
              "dp,pp,micro_batch,micro_batches,recompute,step_ms\n"
              "a,VIA-Research/vTrain@f:x,A100,4,NVLink,GPT,12,1024,16,1024,t,8,1,4,1,2,1,full,70\n"
              "b,VIA-Research/vTrain@f:x,A100,4,NVLink,GPT,12,1024,16,1024,t,8,4,1,1,2,4,full,60\n"
              "c,other,A100,4,NVLink,GPT,12,1024,16,1024,t,8,1,4,1,2,1,full,70\n"),
        SWITCHFOLD_SOURCE_DIR);
    ASSERT_EQ(rows.size(), 3U);
    const auto words = [](const PlanRow& row) {
        return row.step.network->layers.front().parameters / 1024;
    };
    EXPECT_EQ(words(rows[0]), 50'257U);
    EXPECT_EQ(words(rows[1]), 50'256U);  // 12,564 a rank
    EXPECT_EQ(words(rows[2]), 51'200U);
    EXPECT_FALSE(rows[0].step.plan.pad_vocabulary);
    EXPECT_TRUE(rows[2].step.plan.pad_vocabulary);
    EXPECT_EQ(rows[0].step.plan.gradient, Datatype::kBfloat16);
}

TEST_F(PlanRows, OfMegatronDeepSpeedWaitAroundRecomputedLayers) {
    const auto rows = read_plan_rows(
        write("id,source,gpu,n_gpus,interconnect,framework,model,layers,hidden,heads,sequence,task,"
              "global_batch,tp,dp,pp,micro_batch,micro_batches,recompute,step_ms\n"
              "a,x,A100,2,NVLink,Megatron-DeepSpeed,GPT,12,1024,16,1024,t,4,1,2,1,2,1,full,70\n"
              "b,x,A100,2,NVLink,Megatron-LM,GPT,12,1024,16,1024,t,4,1,2,1,2,1,full,70\n"),
        SWITCHFOLD_SOURCE_DIR);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_TRUE(rows[0].step.plan.launch_times.wait_around_recomputed);
    EXPECT_TRUE(rows[0].step.plan.launch_times.wait_after_pass);
    EXPECT_FALSE(rows[1].step.plan.launch_times.wait_around_recomputed);
}

TEST_F(PlanRows, OfVtrainRunOnTheClusterThatHoldsItsLargestPlans) {
    const auto rows = read_plan_rows(
        write("id,source,gpu,n_gpus,interconnect,model,layers,hidden,heads,sequence,task,global_"
              "batch,tp,"
              "dp,pp,micro_batch,micro_batches,recompute,step_ms\n"
              "a,VIA-Research/vTrain@f:x,A100-SXM4 (memory not stated),4,NVLink "
              "(NVSwitch),GPT,12,1024,16,"
              "1024,t,8,1,4,1,2,1,full,70\n"
              "b,other,A100-SXM4 (memory not stated),4,NVLink "
              "(NVSwitch),GPT,12,1024,16,1024,t,8,1,4,1,2,1,"
              "full,70\n"),
        SWITCHFOLD_SOURCE_DIR);
    ASSERT_EQ(rows.size(), 2U);
    const Machines machines(SWITCHFOLD_SOURCE_DIR);
    const auto capacity = [&](const PlanRow& row) {
        return machine_of(row.step, machines).machine.value().system.gpu->memory.capacity;
    };
    EXPECT_EQ(capacity(rows[0]), Bytes(std::uint64_t{80} << 30));
    EXPECT_EQ(capacity(rows[1]), Bytes(std::uint64_t{40} << 30));
}

TEST_F(PlanRows, OfVtrainOnOneNodeHaveNoDropout) {
    const auto rows = read_plan_rows(
        write(
            "id,source,gpu,n_gpus,interconnect,model,layers,hidden,heads,sequence,task,global_"
            "batch,tp,"
            "dp,pp,micro_batch,micro_batches,recompute,step_ms\n"
            "a,VIA-Research/vTrain@f:data/ground_truth_single.csv,A100-SXM4 (memory not stated),4,"
            "NVLink (NVSwitch),GPT,12,1024,16,1024,t,8,1,4,1,2,1,full,70\n"
            "b,VIA-Research/vTrain@f:data/ground_truth_multi.csv,A100-SXM4 (memory not stated),4,"
            "NVLink (NVSwitch),GPT,12,1024,16,1024,t,8,1,4,1,2,1,full,70\n"),
        SWITCHFOLD_SOURCE_DIR);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_FALSE(rows[0].step.plan.attention_dropout);
    EXPECT_FALSE(rows[0].step.plan.residual_dropout);
    EXPECT_TRUE(rows[1].step.plan.attention_dropout);
    EXPECT_TRUE(rows[1].step.plan.residual_dropout);
}

TEST_F(PlanRows, TellAllColumnsThatAreMissing) {
    try {
        static_cast<void>(read_plan_rows(
            write("id,task,tp,dp,pp,micro_batch\na,t,1,1,1,1\n"), SWITCHFOLD_SOURCE_DIR));
        FAIL();
    } catch (const ConfigError& error) {
        ASSERT_EQ(error.problems().size(), 2U);
        EXPECT_EQ(
            error.problems()[0].message,
            "names no column micro_batches; expected task, tp, dp, pp, micro_batch, micro_batches, "
            "step_ms");
    }
}

TEST(Regret, IsWhatTheChosenPlanLosesAgainstTheFastestMeasured) {
    const std::vector<JudgedPlan> plans{
        {"a", 1.0, 5.0, 8.0},   // fastest in the measurement
        {"a", 1.2, 4.0, {}},    // fastest in the simulation: regret 0.2
        {"a", 1.5, 9.0, 16.0},  // chosen by the rule: regret 0.5
        {"b", 3.0, 1.0, {}},    // fastest in both
        {"b", 4.0, 2.0, {}}};
    const Regret chosen = regret_of_simulation(plans);
    EXPECT_EQ(chosen.tasks, 2U);
    EXPECT_EQ(chosen.right, 1U);
    EXPECT_NEAR(chosen.mean, 0.1, 1e-12);
    EXPECT_NEAR(chosen.worst, 0.2, 1e-12);
    EXPECT_NEAR(chosen.wrong_share(), 0.5, 1e-12);
    const Regret rule = regret_of_rule(plans);
    EXPECT_EQ(rule.tasks, 1U);
    EXPECT_NEAR(rule.mean, 0.5, 1e-12);
}

}  // namespace
}  // namespace switchfold::validation::plan_rows_test
