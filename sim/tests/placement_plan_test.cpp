// SPDX-License-Identifier: Apache-2.0
// Plans that divide a network by layers and branches, run as experiments.
#include "core/error.h"
#include "core/json.h"
#include "sim/config/load.h"
#include "sim/runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace switchfold::placement_plan_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/test.json";

ExperimentResult run(const std::string& plan, const std::string& more = "") {
    const std::string text = fmt::format(
        R"({{
          "name": "test", "system": "../systems/hgx_h100.json", "causes": false,
          "workload": {{
            "type": "training", "network": "compound_lstm_ae_attention", "plan": {{{}}}
          }},
          "scenarios": [{{"name": "one", "all_reduce": {{"algorithm": "ring"}}}}]{}
        }})",
        plan, more);
    RunOptions options;
    options.in_process = true;
    return run_experiment(load_experiment(Json::parse(text), kFile, {}), options);
}

std::string error_of(const std::string& plan, const std::string& more = "") {
    try {
        run(plan, more);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

double iteration(const std::string& plan) {
    return run(plan).scenarios.front().iteration_us;
}

TEST(PlacementPlan, OnOneGpuTakesWhatThePlainPlanTakes) {
    // In the cut plan, each time step is its own kernel instead of one kernel for all of them.
    const double plain = iteration(R"("micro_batch": 16)");
    const double steps =
        iteration(R"("micro_batch": 16, "placement": {"parts": 1, "lstm_weights": "memory"})");
    EXPECT_NEAR(steps / plain, 1, 0.01);
}

TEST(PlacementPlan, AWavefrontOnFourGpusIsFasterThanOne) {
    const double one = iteration(R"("micro_batch": 16, "placement": {"parts": 1})");
    const double layers = iteration(
        R"("micro_batch": 16, "placement": {"parts": [["embedding", "lstm.0"], ["lstm.1"], ["autoencoder*"], ["*"]]})");
    const double wave = iteration(
        R"("micro_batch": 16, "link_bandwidth": "300 GB/s", "messages": "ahead", "placement": {"parts": 4, "chunk_steps": 10})");
    EXPECT_LT(layers, one);
    EXPECT_LT(wave, 0.8 * layers);
    EXPECT_GT(wave, one / 4);
}

TEST(PlacementPlan, TellsWhereLayersAreAndWhatIsProven) {
    const ExperimentResult result =
        run(R"("micro_batch": 8, "placement": {"parts": 4, "method": "exact"})");
    std::string notes;
    for (const std::string& note : result.workload.notes)
        notes += note + "\n";
    EXPECT_NE(notes.find("cut into 4 parts (exact): about "), std::string::npos) << notes;
    EXPECT_NE(notes.find("no division into so many takes less than "), std::string::npos);
    EXPECT_NE(
        notes.find("is the least of all divisions whose messages go one way, by 199 "),
        std::string::npos);
    EXPECT_NE(notes.find("part 3 on GPU 3: "), std::string::npos);
    EXPECT_EQ(*result.scenarios.front().samples_per_s > 0, true);
}

TEST(PlacementPlan, ReplicasReduceTheirGradients) {
    const ExperimentResult result =
        run(R"("data": 2, "micro_batch": 8, "placement": {"parts": 2})");
    EXPECT_GT(result.scenarios.front().iteration_us, 0);
    EXPECT_EQ(result.scenarios.size(), 1U);
}

TEST(PlacementPlan, MorePartsThanLayersAreRefused) {
    EXPECT_NE(
        error_of(R"("placement": {"parts": 30})")
            .find("/workload/plan/placement/parts: are 30, and compound_lstm_ae_attention has 26 "
                  "layers; "
                  "expected at most as many parts as layers"),
        std::string::npos);
}

TEST(PlacementPlan, PartsAreANumberOrLayers) {
    for (const char* parts :
         {"0", "-1", "2.5", "\"four\"", "[]", "[[]]", "[1]", "[[1]]", "[\"a\"]"})
        EXPECT_NE(
            error_of(fmt::format(R"("placement": {{"parts": {}}})", parts))
                .find("/workload/plan/placement/parts"),
            std::string::npos)
            << parts;
}

TEST(PlacementPlan, WhatDoesNotGoWithItIsRefusedAllAtOnce) {
    const std::string error =
        error_of(R"("global_batch": 64, "partition": "equal", "memory": {}, "placement": {})");
    for (const char* key : {"global_batch", "partition", "memory"})
        EXPECT_NE(
            error.find(
                fmt::format("/workload/plan/{}: does not go with a placement; expected", key)),
            std::string::npos)
            << error;
}

TEST(PlacementPlan, MoreGpusThanTheMachineHas) {
    EXPECT_NE(
        error_of(R"("data": 4, "placement": {"parts": 4})")
            .find("/workload/plan: is for 16 ranks, data x context x tensor x gpus of the "
                  "placement, more than the 8 GPUs"),
        std::string::npos);
}

TEST(PlacementPlan, MemoryOfAGpuIsCounted) {
    EXPECT_NE(
        error_of(R"("micro_batch": 500000, "placement": {"parts": 1})").find("GPUs' memory"),
        std::string::npos);
}

}  // namespace
}  // namespace switchfold::placement_plan_test
