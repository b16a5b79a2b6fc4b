// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "sim/config/training_params.h"
#include "sim/kinds/collective/collective_params.h"
#include "sim/runner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchfold::shared_machine_test {
namespace {

PlacedWorkloadParams
reduction(const std::string& name, std::vector<std::uint32_t> on, Bytes size = mebibytes(16)) {
    CollectiveWorkloadParams all_reduce;
    all_reduce.size = size;
    PlacedWorkloadParams placed;
    placed.name = name;
    placed.on.ranks = std::move(on);
    placed.workload = all_reduce;
    return placed;
}

PlacedWorkloadParams training(const std::string& name, std::vector<std::uint32_t> on) {
    TrainingWorkloadParams step;
    TransformerParams shape;
    shape.blocks = 2;
    shape.hidden = 512;
    shape.sequence = 256;
    shape.vocabulary = 1000;
    step.transformer = shape;
    step.batch = 4;
    PlacedWorkloadParams placed;
    placed.name = name;
    placed.on.ranks = std::move(on);
    placed.workload = step;
    return placed;
}

Experiment sharing(const std::string& system, std::vector<PlacedWorkloadParams> workloads) {
    Experiment experiment;
    experiment.name = "shared";
    experiment.system.value =
        load_system(std::string(SWITCHFOLD_SOURCE_DIR "/configs/systems/") + system, {});
    experiment.workloads = std::move(workloads);
    experiment.scenarios = {{"ring", true, ring_policy()}};
    experiment.causes = false;
    return experiment;
}

ExperimentResult run(Experiment experiment) {
    RunOptions options;
    options.in_process = false;
    return run_experiment(complete_experiment(std::move(experiment), "here.json"), options);
}

std::string problems_of(Experiment experiment) {
    try {
        static_cast<void>(run(std::move(experiment)));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(SharedMachine, SwitchWithoutContentionCostsNothing) {
    const ExperimentResult result =
        run(sharing("hgx_h100.json", {reduction("a", {0, 1}), reduction("b", {4, 5})}));
    ASSERT_EQ(result.scenarios.size(), 2U);
    EXPECT_EQ(result.scenarios[0].name, "ring: a");
    for (const ScenarioResult& row : result.scenarios) {
        EXPECT_NEAR(row.lost_to_others.value(), 0, 0.001);
        EXPECT_GT(row.alone_us.value(), 0);
        ASSERT_EQ(row.collectives.size(), 1U);
        EXPECT_EQ(row.collectives[0].ranks, 2U);
    }
    EXPECT_EQ(result.workload.ranks, 4U);
}

TEST(SharedMachine, TwoShareTheLinkBetweenTheRoots) {
    // GPUs 0 and 1 are below one root, 4 and 5 below the other. One link of 20.8 GB/s, headers
    // included, joins the roots. An all-reduce of two ranks sends all of its bytes each way.
    const ExperimentResult result = run(sharing(
        "l40s_pcie.json",
        {reduction("a", {0, 4}, mebibytes(32)), reduction("b", {1, 5}, mebibytes(32))}));
    double both = 0;
    for (const ScenarioResult& row : result.scenarios) {
        EXPECT_GT(row.lost_to_others.value(), 0.5) << row.name;
        both += row.collectives.at(0).bus_bandwidth_GBps;
    }
    EXPECT_LT(both, 20.8);
    EXPECT_GT(both, 0.85 * 19.0);
}

TEST(SharedMachine, ShortWorkloadIsRepeatedBesideTheLong) {
    const ExperimentResult result = run(sharing(
        "l40s_pcie.json",
        {reduction("long", {0, 4}, mebibytes(4)), reduction("short", {1, 5}, kibibytes(256))}));
    EXPECT_GE(result.scenarios[1].collectives.size(), 4U);
    EXPECT_EQ(result.scenarios[0].collectives.size(), 1U);
    for (const ScenarioResult& row : result.scenarios)
        EXPECT_GT(row.lost_to_others.value(), 0.1) << row.name;
}

TEST(SharedMachine, WhoComesAfterTheOthersLosesNothing) {
    auto late = reduction("late", {1, 5}, mebibytes(1));
    late.start = microseconds(1'000'000);
    auto first = reduction("first", {0, 4}, mebibytes(1));
    first.steps = 1;
    const ExperimentResult result = run(sharing("l40s_pcie.json", {first, late}));
    EXPECT_NEAR(result.scenarios[0].lost_to_others.value(), 0, 1e-9);
    EXPECT_NEAR(result.scenarios[1].lost_to_others.value(), 0, 1e-9);
    ASSERT_FALSE(result.scenarios[1].notes.empty());
    EXPECT_NE(result.scenarios[1].notes.back().find("0 % ran beside"), std::string::npos);
}

TEST(SharedMachine, TrainingBesideAReductionHasCausesAndSpeedup) {
    Experiment experiment =
        sharing("hgx_h100.json", {training("net", {0, 1, 2, 3}), reduction("noise", {4, 5, 6, 7})});
    experiment.causes = true;
    const ExperimentResult result = run(std::move(experiment));
    const ScenarioResult& net = result.scenarios[0];
    ASSERT_TRUE(net.backward_slowdown && net.causes && net.speedup);
    const SlowdownByCause& c = *net.causes;
    EXPECT_NEAR(
        c.sm + c.l2 + c.hbm + c.latency + c.completion + c.clock + c.other, *net.backward_slowdown,
        1e-9);
    EXPECT_NEAR(net.lost_to_others.value(), 0, 0.01);
    EXPECT_FALSE(result.scenarios[1].backward_slowdown);
}

TEST(SharedMachine, AFoldedPlanIsWholeThereAndMissingRanksAreRefused) {
    Experiment folded = sharing("hgx_h100.json", {training("net", {0, 1}), reduction("b", {2, 3})});
    auto& step = *folded.workloads[0].workload.as<TrainingWorkloadParams>();
    step.plan.emplace().data = 2;
    step.plan->fold = true;
    EXPECT_EQ(problems_of(folded), "");
    step.plan->data = 1;
    EXPECT_NE(problems_of(folded).find("has 1 ranks, and is put on 2 GPUs"), std::string::npos);
}

TEST(SharedMachine, AChangedGpuLeavesTheMachineOfATraceInTheConfiguration) {
    const Json json = Json::parse(R"({"name": "changed", "system": ")" SWITCHFOLD_SOURCE_DIR
                                  R"(/configs/systems/hgx_h100.json", "workloads": [
            {"name": "a", "on": "0-3", "workload": {"type": "trace", "ranks": 4,
             "files": [")" SWITCHFOLD_SOURCE_DIR
                                  R"(/configs/examples/resnet50_ddp_synthetic.json.gz"]}},
            {"name": "b", "on": "4-7", "workload": {"type": "collective", "size": "1 MiB"}}]})");
    const std::vector<Override> changes{{"/system/gpu/sms", 100}};
    const LoadedExperiment loaded = load_experiment(json, "changed.json", changes);
    const Json written = Json::parse(loaded.effective_config);
    EXPECT_EQ(written.at("/system/gpu/sms"_json_pointer), 100);
    EXPECT_EQ(written.at("/workloads/0/workload/traced_on/gpu/sms"_json_pointer), 132);
    EXPECT_FALSE(written.at("/workloads/1/workload"_json_pointer).contains("traced_on"));
}

TEST(SharedMachine, WrongRanksAreToldAllAtOnce) {
    const Json json = Json::parse(R"({"name": "wrong", "system": ")" SWITCHFOLD_SOURCE_DIR
                                  R"(/configs/systems/hgx_h100.json",
        "workload": {"type": "collective", "size": "1 MiB"},
        "workloads": [
            {"name": "a", "on": "0-1", "workload": {"type": "collective", "size": "1 MiB"}},
            {"name": "a", "on": [1, 9], "workload": {"type": "collective", "size": "1 MiB"}},
            {"name": "c", "on": [5, 4], "workload": {"type": "collective", "size": "1 MiB"}}]})");
    try {
        static_cast<void>(load_experiment(json, "wrong.json", {}));
        FAIL() << "it was taken";
    } catch (const ConfigError& error) {
        const std::string text = error.what();
        for (const char* expected :
             {"has workload and workloads; expected one of the two",
              "/workloads/1/name: \"a\" is given twice",
              "/workloads/1/on: has rank 1, on which \"a\" runs",
              "/workloads/1/on: has rank 9, and hgx_h100 has 8 GPUs",
              "/workloads/2/on: does not ascend"})
            EXPECT_NE(text.find(expected), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace switchfold::shared_machine_test
