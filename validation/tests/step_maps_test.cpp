// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/params_reader.h"
#include "sim/config/training_params.h"
#include "sim/workload/plan_workload.h"
#include "sim/workload/training_workload.h"
#include "validation/experiments/measured_experiments.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace switchfold::validation::step_maps_test {
namespace {

std::vector<MeasuredExperiment> rows_by(const char* map, const std::string& csv) {
    const std::filesystem::path root = SWITCHFOLD_SOURCE_DIR;
    const std::filesystem::path file = root / "validation/maps" / map;
    return measured_experiments(
        parse_csv(csv, "rows.csv"), read_params_file<TableMap>(file), {"rows.csv", file, root, {}});
}

constexpr const char* kSteps =
    "id,source,gpu,n_gpus,n_nodes,interconnect,framework,model,layers,hidden,heads,vocabulary,"
    "sequence,tp,pp,dp,chunks,micro_batch,global_batch,micro_batches,schedule,recompute,precision,"
    "step_ms,samples_per_s,tflops_per_gpu,memory_gb,note\n";
constexpr const char* kPlans =
    "id,source,gpu,n_gpus,interconnect,model,layers,hidden,heads,sequence,task,global_batch,tp,dp,"
    "pp,micro_batch,micro_batches,recompute,step_ms\n";

std::vector<MeasuredExperiment> steps(const std::string& rows) {
    return rows_by("training_steps.json", kSteps + rows);
}
std::vector<MeasuredExperiment> plans(const std::string& rows) {
    return rows_by("plans.json", kPlans + rows);
}

TrainingWorkloadParams workload(const MeasuredExperiment& row) {
    EXPECT_EQ(row.why, "") << row.id;
    return *workload_of<TrainingWorkloadParams>(load_row(row).experiment);
}
ParallelPlan plan(const MeasuredExperiment& row) {
    return plan_without_network(workload(row));
}
std::uint64_t words(const MeasuredExperiment& row) {
    const TrainingWorkloadParams training = workload(row);
    const Network network = network_of(training, row.file.parent_path());
    return network.layers.front().parameters / 1024;
}

TEST(StepMap, MakesExperimentsOfRowsAndSaysWhyNot) {
    const auto rows = steps(
        "a,\"Qi et al., x\",A100-SXM4-80GB,8,1,NVLink,Megatron-LM fork,GPT "
        "1.5B,22,2304,24,,1024,1,8,1,1,6,144,24,zb_h1,none,16-bit,1241,,,59,\n"
        "b,s,A100-SXM4-80GB,8,1,NVLink,x,Foo,,,,,,1,8,1,1,6,144,24,1f1b,none,16-bit,1,,,,\n"
        "c,s,A100-SXM4-80GB,8,1,NVLink,x,GPT,22,2304,24,,1024,1,8,1,1,6,144,24,1f1b,none,16-bit,"
        ",,,,\n"
        "d,s,A100-SXM4-80GB,8,1,NVLink,x,GPT,22,2304,24,,1024,1,8,1,1,6,144,24,1f1b,none,16-bit,"
        ",96,,,\n");
    ASSERT_EQ(rows.size(), 4U);
    ASSERT_EQ(rows[0].numbers.size(), 2U);
    const MeasuredNumber& time = rows[0].numbers[0];
    EXPECT_EQ(time.value, 1'241'000) << "microseconds";
    EXPECT_NEAR(time.value * time.shown, 1241, 1e-9);
    EXPECT_EQ(time.unit, "ms");
    EXPECT_EQ(time.name, "time of a step");
    EXPECT_EQ(time.group, "Qi et al., A100-SXM4-80GB");
    EXPECT_EQ(time.like.value().kind, "step");
    const MeasuredNumber& memory = rows[0].numbers[1];
    EXPECT_NEAR(memory.value * memory.shown, 59, 1e-9);
    EXPECT_EQ(memory.group, "memory, Qi et al.");
    EXPECT_EQ(memory.suffix, "memory");
    EXPECT_EQ(plan(rows[0]).schedule, "zb_h1");
    EXPECT_EQ(plan(rows[0]).attention, AttentionKernels::kUnfused);
    EXPECT_TRUE(workload(rows[0]).plan->partition.equal);
    EXPECT_EQ(rows[1].why, "line 3: no network Foo here");
    EXPECT_EQ(rows[2].why, "line 4: it states no time of a step");
    EXPECT_NEAR(rows[3].numbers.at(0).value, 1.5e6, 1e-3) << "144 samples at 96 a second";
}

TEST(StepMap, PlansFollowTheFrameworksCode) {
    const auto rows = steps(
        "a,\"Qi et al., arXiv 2401.10241v1\",A100,8,1,NVLink,Megatron-LM fork,GPT "
        "1.5B,22,2304,24,,1024,1,8,1,3,6,144,24,interleaved_1f1b,none,16-bit,1,,,,\n"
        "b,\"Korthikanti et al., x\",A100,8,1,NVLink,Megatron-LM,GPT,48,6144,64,,2048,8,1,1,1,4,4,"
        "1,tensor_parallel,full,fp16,1,,,,\n"
        "c,\"Oneflow-Inc/DLPerf, x\",A100,8,1,NVLink,Megatron-LM,GPT,16,1536,16,,2048,1,1,8,1,2,"
        "16,1,data_parallel,full,fp16,1,,,,\n"
        "d,\"Oneflow-Inc/DLPerf, x\",A100,8,1,NVLink,OneFlow,GPT,16,1536,16,,2048,1,1,8,1,2,16,1,"
        "data_parallel,full,fp16,1,,,,\n"
        "e,\"Oneflow-Inc/DLPerf, x\",A100,8,1,NVLink,OneFlow,GPT,16,1536,16,,2048,8,1,1,1,16,16,1,"
        "tensor_parallel,full,fp16,1,,,,\n"
        "f,\"VIA-Research/vTrain, x\",A100,8,1,NVLink,Megatron-DeepSpeed,GPT,16,1536,16,,2048,8,1,"
        "1,1,16,16,1,tensor_parallel,full,16-bit,1,,,,\n");
    ASSERT_EQ(rows.size(), 6U);
    std::vector<ParallelPlan> of;
    for (const MeasuredExperiment& row : rows)
        of.push_back(plan(row));
    EXPECT_EQ(of[0].gradient, Datatype::kBfloat16) << "fp16 without accumulation in 32 bits";
    EXPECT_EQ(of[1].gradient, Datatype::kFloat32) << "its formula counts 4 B a gradient";
    EXPECT_EQ(of[2].gradient, Datatype::kBfloat16);
    EXPECT_EQ(of[3].gradient, Datatype::kBfloat16) << "reduced before it is widened";
    EXPECT_EQ(of[0].messages, Messages::kAhead) << "overlap_p2p_comm";
    EXPECT_TRUE(of[3].overlap_gradients);
    EXPECT_FALSE(of[2].overlap_gradients);
    EXPECT_FALSE(of[4].overlap_gradients) << "nccl_use_compute_stream";
    EXPECT_TRUE(of[3].residual_dropout);
    EXPECT_TRUE(of[1].attention_dropout);
    EXPECT_TRUE(of[5].residual_dropout);
    EXPECT_TRUE(of[0].repeat_keys);
    EXPECT_FALSE(of[1].repeat_keys);
    EXPECT_EQ(of[0].norm, NormKernels::kOnePass);
    EXPECT_EQ(of[2].norm, NormKernels::kApex);
    EXPECT_EQ(of[5].norm, NormKernels::kApex);
    EXPECT_EQ(of[1].update, UpdateKernels::kUnfused);
    EXPECT_EQ(of[3].update, UpdateKernels::kFused);
    EXPECT_EQ(of[5].update, UpdateKernels::kFused) << "DeepSpeed's own optimizer";
}

TEST(StepMap, AStepThatCannotBeReadDoesNotStopTheOthers) {
    const auto rows = steps(
        "a,s,A100-SXM4-80GB,many,1,NVLink,x,GPT,22,2304,24,,1024,1,8,1,1,6,144,24,1f1b,none,,1,,,,"
        "\n"
        "b,s,A100-SXM4-80GB,8,1,NVLink,x,GPT,22,2304,24,,1024,1,8,1,1,6,144,24,1f1b,none,,1,,,,\n");
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].why, "line 2: n_gpus is \"many\"; expected a number from 1");
    EXPECT_EQ(rows[1].why, "");
}

TEST(StepMap, FindsTablesOfNetworksThatTheProgramDoesNotName) {
    const auto rows = steps("u,s,A100-SXM4-80GB,2,1,NVLink,torchgpipe,\"U-Net (5, 64)\",,,,,,1,2,1,"
                            "1,16,512,32,gpipe,full,fp32,14420,,,,\n");
    const TrainingWorkloadParams training = workload(rows.at(0));
    EXPECT_EQ(parameters(network_of(training, rows[0].file.parent_path())), 232'687'328U);
}

TEST(StepMap, ManyGpusAreFolded) {
    const auto rows = steps(
        "a,s,A100-SXM4-80GB,16,2,\"NVSwitch, InfiniBand HDR\",Megatron-LM,GPT,24,2304,24,,1024,8,1,"
        "2,1,6,12,1,tensor_parallel,none,fp16,1,,,,\n"
        "b,s,A100-SXM4-80GB,32,4,\"NVSwitch, InfiniBand HDR\",Megatron-LM,GPT,24,2304,24,,1024,8,1,"
        "4,1,6,24,1,tensor_parallel,none,fp16,1,,,,\n"
        "c,s,A100-SXM4-80GB,32,4,\"NVSwitch, InfiniBand HDR\",OneFlow,GPT,24,2304,24,,1024,1,1,32,"
        "1,6,192,1,data_parallel,none,fp16,1,,,,\n");
    EXPECT_FALSE(workload(rows.at(0)).plan->fold.value_or(false));
    EXPECT_EQ(workload(rows.at(1)).plan->fold, true);
    EXPECT_EQ(workload(rows.at(2)).plan->fold, false) << "gradients beside passes";
}

TEST(PlanMap, AreStepsOfMegatronDeepSpeed) {
    const auto rows = plans("a,v,A100,4,NVLink,GPT,12,1024,16,1024,t,8,1,2,2,2,2,full,70\n");
    EXPECT_EQ(rows.at(0).record["task"], "t");
    const ParallelPlan of = plan(rows[0]);
    EXPECT_EQ(of.attention, AttentionKernels::kUnfused);
    EXPECT_EQ(of.messages, Messages::kBlocking);
    EXPECT_EQ(of.recompute, Recompute::kFull);
    EXPECT_FALSE(of.overlap_gradients);
    EXPECT_TRUE(of.launch_times.wait_around_recomputed);
    EXPECT_TRUE(of.launch_times.wait_after_pass);
    EXPECT_EQ(workload(rows[0]).plan->fold, true);
}

TEST(PlanMap, OfVtrainHaveTheVocabularyOfItsConfigurations) {
    const auto rows =
        plans("a,VIA-Research/vTrain@f:x,A100,4,NVLink,GPT,12,1024,16,1024,t,8,1,4,1,2,1,full,70\n"
              "b,VIA-Research/vTrain@f:x,A100,4,NVLink,GPT,12,1024,16,1024,t,8,4,1,1,2,4,full,60\n"
              "c,other,A100,4,NVLink,GPT,12,1024,16,1024,t,8,1,4,1,2,1,full,70\n");
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(words(rows[0]), 50'257U);
    EXPECT_EQ(words(rows[1]), 50'256U);  // 12,564 a rank
    EXPECT_EQ(words(rows[2]), 51'200U);
    EXPECT_FALSE(plan(rows[0]).pad_vocabulary);
    EXPECT_TRUE(plan(rows[2]).pad_vocabulary);
    EXPECT_EQ(plan(rows[0]).gradient, Datatype::kBfloat16);
}

TEST(PlanMap, OfVtrainRunOnTheClusterThatHoldsItsLargestPlans) {
    const auto rows = plans("a,VIA-Research/vTrain@f:x,A100-SXM4 (memory not stated),4,NVLink "
                            "(NVSwitch),GPT,12,1024,16,1024,t,8,1,4,1,2,1,full,70\n"
                            "b,other,A100-SXM4 (memory not stated),4,NVLink "
                            "(NVSwitch),GPT,12,1024,16,1024,t,8,1,4,1,2,1,full,70\n");
    const auto capacity = [](const MeasuredExperiment& row) {
        return load_row(row).experiment.system->gpu->memory.capacity;
    };
    EXPECT_EQ(capacity(rows.at(0)), Bytes(std::uint64_t{80} << 30));
    EXPECT_EQ(capacity(rows.at(1)), Bytes(std::uint64_t{40} << 30));
}

TEST(PlanMap, OfVtrainOnOneNodeHaveNoDropout) {
    const auto rows = plans(
        "a,VIA-Research/vTrain@f:data/ground_truth_single.csv,A100-SXM4 (memory not stated),4,"
        "NVLink (NVSwitch),GPT,12,1024,16,1024,t,8,1,4,1,2,1,full,70\n"
        "b,VIA-Research/vTrain@f:data/ground_truth_multi.csv,A100-SXM4 (memory not stated),4,"
        "NVLink (NVSwitch),GPT,12,1024,16,1024,t,8,1,4,1,2,1,full,70\n");
    EXPECT_FALSE(plan(rows.at(0)).attention_dropout);
    EXPECT_FALSE(plan(rows.at(0)).residual_dropout);
    EXPECT_TRUE(plan(rows.at(1)).attention_dropout);
    EXPECT_TRUE(plan(rows.at(1)).residual_dropout);
}

}  // namespace
}  // namespace switchfold::validation::step_maps_test
