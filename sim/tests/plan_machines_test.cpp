// SPDX-License-Identifier: Apache-2.0
// Regression tests: combinations of plan and machine that once failed.
#include "core/error.h"
#include "core/json.h"
#include "sim/config/load.h"
#include "sim/runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace switchfold::plan_machines_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/test.json";

ExperimentResult run(const std::string& system, const std::string& plan) {
    const std::string text = fmt::format(
        R"({{
          "name": "test", "system": "../systems/{}.json", "causes": false,
          "workload": {{
            "type": "training", "plan": {{{}}},
            "network": {{"type": "llama", "layers": 8, "hidden": 512, "heads": 8, "sequence": 256, "feed_forward": 1024}}
          }},
          "scenarios": [{{
            "name": "in switch", "all_reduce": {{"algorithm": "in_switch"}},
            "collectives": {{
              "reduce_scatter": {{"algorithm": "in_switch"}}, "all_gather": {{"algorithm": "in_switch"}}
            }}
          }}]
        }})",
        system, plan);
    return run_experiment(load_experiment(Json::parse(text), kFile, {}), {});
}

TEST(PlanMachines, CollectivesThroughSeveralSwitchesStayUntilNothingWouldWakeThem) {
    // Tensor-parallel and data-parallel groups reduce through the same switches at the same time.
    const ExperimentResult result =
        run("gb200_nvl72",
            R"("tensor": 2, "data": 2, "sequence": true, "sharding": "gradients", "accumulate": 2,
           "schedule": "zb_v")");
    EXPECT_GT(result.scenarios.front().iteration_us, 0);
}

TEST(PlanMachines, ReplicatedStagesOfSeveralSizesEnd) {
    // With fewer mini-batches in flight than PipeDream admits, this run would hang.
    const ExperimentResult result = run(
        "gb200_nvl72",
        R"("pipeline": 16, "replicas": [9, 5, 1, 1], "schedule": "1f1b_async", "weights": "stash",
           "mini_batches": 135)");
    EXPECT_GT(*result.scenarios.front().samples_per_s, 0);
}

TEST(PlanMachines, DefaultScenariosOfAFoldedPlanLeaveOutWhatTheMachineCannotDo) {
    // The only all-reduces are between pipeline devices, so the probe contains none.
    const std::string text = R"({
      "name": "test", "system": "../systems/v100_pcie.json", "causes": false,
      "workload": {
        "type": "training", "plan": {"pipeline": 2, "data": 2, "accumulate": 2, "overlap_gradients": false, "sharding": "optimizer", "fold": true},
        "network": {"type": "gpt", "layers": 4, "hidden": 256, "heads": 4, "sequence": 64, "vocabulary": 512}
      }
    })";
    const ExperimentResult result =
        run_experiment(load_experiment(Json::parse(text), kFile, {}), {});
    EXPECT_FALSE(result.scenarios.empty());
    for (const ScenarioResult& scenario : result.scenarios) {
        EXPECT_EQ(scenario.name.find("in_switch"), std::string::npos);
        EXPECT_GT(scenario.iteration_us, 0);
        EXPECT_GT(*scenario.peak_memory_gib, 0);
    }
}

TEST(PlanMachines, APlanOfMoreRanksThanTheMachineHasIsBlamed) {
    try {
        run("hgx_h100", R"("tensor": 2, "pipeline": 4, "data": 2, "accumulate": 4)");
        FAIL() << "expected an error";
    } catch (const ConfigError& error) {
        EXPECT_NE(
            std::string(error.what())
                .find("/workload/plan: is for 16 ranks, data x context x tensor x pipeline, more "
                      "than the 8 GPUs of hgx_h100"),
            std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace switchfold::plan_machines_test
