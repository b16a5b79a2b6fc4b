// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "sim/config/load.h"
#include "sim/runner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace switchfold::kernel_beside_test {
namespace {

Json experiment(const std::string& changes = "{}") {
    Json json = Json::parse(R"({
        "name": "test", "system": "configs/systems/hgx_h100.json",
        "workload": {
            "type": "kernel_beside_collective",
            "kernel": {"type": "matrix_product", "m": 4096, "n": 4096, "k": 4096},
            "collective": "all_reduce", "size": "16 MiB", "datatype": "bfloat16",
            "kernels": 4, "collectives": 4},
        "scenarios": [{"name": "ring", "all_reduce": {"algorithm": "ring"}}]})");
    json.merge_patch(Json::parse(changes));
    return json;
}

ExperimentResult run(const Json& json) {
    RunOptions options;
    options.jobs = 2;
    return run_experiment(
        load_experiment(json, SWITCHFOLD_SOURCE_DIR "/experiment.json", {}), options);
}

/// "/pointer: message" of the first problem; empty if it runs.
std::string problem_of(const std::string& changes) {
    try {
        static_cast<void>(run(experiment(changes)));
    } catch (const ConfigError& error) {
        return error.problems().front().pointer + ": " + error.problems().front().message;
    }
    return "";
}

double sum(const SlowdownByCause& causes) {
    double all = 0;
    for (const Cause& cause : kCauses)
        all += causes.*cause.member;
    return all;
}

TEST(KernelBesideCollective, AKernelOfFewThreadsCannotFillTheMemory) {
    const auto alone = [](const std::string& grid) {
        return *run(experiment(
                        R"({"workload": {"kernel": {"type": "launch", "grid": [)" + grid +
                        R"(], "block": [256], "m": null, "n": null, "k": null,
                            "bytes_read": "8 MiB", "bytes_written": "8 MiB"}}})"))
                    .scenarios.at(0)
                    .kernel_alone_us;
    };
    EXPECT_GT(alone("33"), 50);
    EXPECT_LT(alone("33"), 100);
    EXPECT_LT(alone("2048"), 10);
}

TEST(KernelBesideCollective, BothAreSlowedAndTheKernelsCausesAddUp) {
    const ScenarioResult ring = run(experiment()).scenarios.at(0);
    ASSERT_TRUE(ring.kernel_slowdown && ring.collective_slowdown && ring.kernel_causes);
    EXPECT_GT(*ring.kernel_slowdown, 0.01);
    EXPECT_GT(*ring.collective_slowdown, 0.01);
    EXPECT_NEAR(sum(*ring.kernel_causes), *ring.kernel_slowdown, 1e-9);
    EXPECT_GT(ring.kernel_causes->sm, 0);
    EXPECT_NEAR(*ring.kernel_beside_us / *ring.kernel_alone_us - 1, *ring.kernel_slowdown, 1e-9);
    EXPECT_EQ(ring.loop_kernels, 4);
    EXPECT_EQ(ring.loop_collectives, 4);
    EXPECT_FALSE(ring.other_slowdown || ring.backward_slowdown);
    // Together they end later than the longer one alone, and earlier than one after the other.
    ASSERT_TRUE(ring.speedup);
    EXPECT_GT(*ring.speedup, 1);
    EXPECT_GT(ring.iteration_us, 4 * std::max(*ring.kernel_alone_us, *ring.collective_alone_us));
}

TEST(KernelBesideCollective, AloneIsWhatASingleCollectiveAndTheGivenTimeAre) {
    const ScenarioResult ring =
        run(experiment(R"({"workload": {"kernel": {"time": "150 us"}}})")).scenarios.at(0);
    EXPECT_NEAR(*ring.kernel_alone_us, 150, 1e-6);
    Json single = experiment();
    single["workload"] =
        Json::parse(R"({"type": "collective", "size": "16 MiB", "datatype": "bfloat16"})");
    const double alone = run(single).scenarios.at(0).collectives.at(0).time_us;
    EXPECT_NEAR(*ring.collective_alone_us / alone, 1, 0.02);
}

TEST(KernelBesideCollective, WithoutOverlapNeitherIsSlowed) {
    const ScenarioResult serial =
        run(experiment(R"({"scenarios": [{"name": "serial", "overlap": false}]})")).scenarios.at(0);
    EXPECT_NEAR(*serial.kernel_slowdown, 0, 1e-9);
    EXPECT_NEAR(*serial.collective_slowdown, 0, 1e-9);
    EXPECT_NEAR(*serial.speedup, 1, 1e-9);
}

TEST(KernelBesideCollective, CountsThatAreNotGivenKeepBothLoopsBesideEachOther) {
    const ExperimentResult result = run(experiment(
        R"({"causes": false, "workload": {"kernels": 0, "collectives": 0, "kernel": {"time": "20 us"}}})"));
    const ScenarioResult& ring = result.scenarios.at(0);
    EXPECT_EQ(std::min(*ring.loop_kernels, *ring.loop_collectives), 10);
    EXPECT_GT(*ring.loop_kernels, 10);
    const double kernels = *ring.loop_kernels * *ring.kernel_beside_us;
    const double collectives = *ring.loop_collectives * *ring.collective_beside_us;
    EXPECT_NEAR(kernels / collectives, 1, 0.15);
    // With one count given, the other follows.
    const ScenarioResult followed =
        run(experiment(
                R"({"causes": false, "workload": {"kernels": 0, "collectives": 3, "kernel": {"time": "20 us"}}})"))
            .scenarios.at(0);
    EXPECT_EQ(followed.loop_collectives, 3);
    EXPECT_NEAR(*followed.loop_kernels / *ring.loop_kernels, 0.3, 0.05);
}

TEST(KernelBesideCollective, ALoopThatOutlastsTheOtherIsNoted) {
    const ScenarioResult ring =
        run(experiment(R"({"causes": false, "workload": {"kernels": 1, "collectives": 20}})"))
            .scenarios.at(0);
    ASSERT_EQ(ring.notes.size(), 1U);
    EXPECT_EQ(ring.notes[0].rfind("the collectives go on for ", 0), 0U) << ring.notes[0];
}

TEST(KernelBesideCollective, DefaultScenariosAreRingAutoAndTheSwitchWhereThereIsOne) {
    Json json = experiment(R"({"causes": false, "scenarios": null})");
    const auto names = [](const ExperimentResult& result) {
        std::vector<std::string> all;
        for (const ScenarioResult& s : result.scenarios)
            all.push_back(s.name);
        return all;
    };
    EXPECT_EQ(names(run(json)), (std::vector<std::string>{"ring", "auto", "in_switch"}));
    json["system"] = "configs/systems/dgx_a100.json";
    const ExperimentResult without = run(json);
    EXPECT_EQ(names(without), (std::vector<std::string>{"ring", "auto"}));
    ASSERT_EQ(without.workload.notes.size(), 1U);
    EXPECT_EQ(without.workload.notes[0].rfind("in_switch was left out", 0), 0U);
}

TEST(KernelBesideCollective, AKernelIsAlsoItsLaunch) {
    const ScenarioResult ring = run(experiment(R"({"causes": false, "workload": {"kernel": {
            "type": "launch", "m": null, "n": null, "k": null, "grid": [528], "block": [256],
            "bytes_read": "256 MiB", "bytes_written": "128 MiB"}}})"))
                                    .scenarios.at(0);
    // 384 MiB at some 3 TB/s.
    EXPECT_GT(*ring.kernel_alone_us, 100);
    EXPECT_LT(*ring.kernel_alone_us, 200);
    EXPECT_GT(*ring.kernel_slowdown, 0);
}

TEST(KernelBesideCollective, WhatCannotRunSaysWhere) {
    EXPECT_EQ(
        problem_of(R"({"workload": {"kernel": {"k": null}}})"),
        "/workload/kernel/k: is missing; expected it here");
    EXPECT_EQ(
        problem_of(R"({"workload": {"kernel": {"type": "matrix_produkt"}}})"),
        "/workload/kernel/type: unknown type \"matrix_produkt\", did you mean \"matrix_product\"?; "
        "expected one of: matrix_product, launch");
    EXPECT_EQ(
        problem_of(R"({"workload": {"kernel": {"datatype": "int8"}}})"),
        "/workload/kernel/datatype: is int8, of which no product is modelled; expected float32, "
        "float16, bfloat16 or float8");
    EXPECT_EQ(
        problem_of(R"({"workload": {"ranks": 1}})"),
        "/workload/ranks: is 1, and nothing is communicated; expected at least 2");
    EXPECT_EQ(
        problem_of(R"({"workload": {"size": "1 B"}})"),
        "/workload/size: is not a whole number of elements; expected a multiple of the element's "
        "size");
    const std::string launch =
        R"({"workload": {"kernel": {"type": "launch", "m": null, "n": null, "k": null, "grid": [1], )";
    EXPECT_EQ(
        problem_of(launch + R"("block": [256]}}})"),
        "/workload/kernel/time: is not given, and neither are bytes_read, bytes_written and flops; "
        "expected one");
    EXPECT_EQ(
        problem_of(launch + R"("block": [64, 32], "time": "1 us"}}})"),
        "/workload/kernel/block: is of 2048 threads; expected at most 1024");
    EXPECT_EQ(
        problem_of(launch + R"("block": [2, 2, 2, 2], "time": "1 us"}}})"),
        "/workload/kernel/block: has 4 numbers; expected one to three");
    EXPECT_EQ(
        problem_of(launch + R"("block": [1024], "registers_per_thread": 255, "time": "1 us"}}})"),
        "/workload/kernel: has blocks of 1024 threads with 255 registers and 0 B of shared memory, "
        "which no SM of NVIDIA H100 SXM5 80 GB holds; expected less");
    EXPECT_EQ(
        problem_of(R"({"ranks": [{"rank": 1, "compute": 2}], "workload": {"kernels": 0}})"),
        "/workload/kernels: is 0, which is found with ranks that are alike, and the experiment "
        "slows some; expected how many");
}

TEST(KernelBesideCollective, SharesNoMachine) {
    Json json = experiment();
    json["workloads"][0] = {{"name", "a"}, {"on", "0-3"}, {"workload", json["workload"]}};
    json.erase("workload");
    try {
        static_cast<void>(run(json));
        FAIL() << "runs";
    } catch (const ConfigError& error) {
        EXPECT_EQ(error.problems().front().pointer, "/workloads/0/workload/type");
    }
}

}  // namespace
}  // namespace switchfold::kernel_beside_test
