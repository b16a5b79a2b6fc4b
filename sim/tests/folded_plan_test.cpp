// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/json.h"
#include "sim/config/load.h"
#include "sim/runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace switchfold::folded_plan_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/folded.json";

/// Runs the plan on HGX H100, with every rank and folded.
ExperimentResult both(const std::string& plan) {
    const std::string text = fmt::format(
        R"({{
          "name": "folded", "system": "../systems/hgx_h100.json", "causes": false,
          "workload": {{
            "type": "training", "gradient": "bfloat16", "plan": {{{0}}},
            "network": {{"type": "gpt", "layers": 4, "hidden": 2048, "heads": 16, "sequence": 1024, "vocabulary": 4096}}
          }},
          "scenarios": [
            {{"name": "all"}},
            {{"name": "folded", "set": {{"/workload/plan/fold": true}}}},
            {{"name": "all, in switch", "all_reduce": {{"algorithm": "in_switch"}}}},
            {{"name": "folded, in switch", "set": {{"/workload/plan/fold": true}}, "all_reduce": {{"algorithm": "in_switch"}}}}
          ]
        }})",
        plan);
    return run_experiment(load_experiment(Json::parse(text), kFile, {}), {});
}

std::string refused(const std::string& plan) {
    try {
        static_cast<void>(both(plan + ", \"fold\": true"));
    } catch (const ConfigError& error) {
        return error.problems().front().pointer + " " + error.problems().front().message;
    }
    return "";
}

void expect_same(const std::string& plan, double of_rings, double of_bubbles = 0.01) {
    const ExperimentResult result = both(plan);
    for (const std::size_t i : {0U, 2U}) {
        // With every rank, all groups of a machine share its switches' adders. The probe runs the
        // groups of one device only.
        const double tolerance = i == 0 ? of_rings : of_rings + 0.005;
        const ScenarioResult& all = result.scenarios[i];
        const ScenarioResult& folded = result.scenarios[i + 1];
        EXPECT_NEAR(folded.iteration_us / all.iteration_us, 1, tolerance) << plan << all.name;
        EXPECT_NEAR(*folded.bubble_share, *all.bubble_share, of_bubbles) << plan << all.name;
        EXPECT_NEAR(*folded.tflops_per_gpu / *all.tflops_per_gpu, 1, tolerance) << plan << all.name;
        EXPECT_LT(folded.events, all.events);
    }
}

TEST(FoldedPlan, TakesWhatAllRanksTake) {
    // Tensor-parallel groups and blocking messages: folding shrinks only the norm's group.
    expect_same(
        R"("tensor": 4, "pipeline": 2, "micro_batch": 2, "accumulate": 6, "messages": "blocking")",
        0.005);
    // Replicas that reduce their gradients at the end, with sharded optimizer moments.
    expect_same(
        R"("tensor": 2, "sequence": true, "data": 4, "micro_batch": 2, "accumulate": 2,
           "overlap_gradients": false, "sharding": "optimizer")",
        0.005);
    expect_same(
        R"("tensor": 2, "pipeline": 2, "data": 2, "micro_batch": 2, "accumulate": 4,
           "overlap_gradients": false, "messages": "blocking", "recompute": "full")",
        0.005);
}

TEST(FoldedPlan, TakesWhatHostsTakeThatWait) {
    expect_same(
        R"("tensor": 4, "pipeline": 2, "micro_batch": 1, "accumulate": 6, "messages": "blocking",
           "launches": "../launches/megatron_lm.json")",
        0.005);
    expect_same(
        R"("tensor": 2, "data": 4, "micro_batch": 1, "accumulate": 3, "overlap_gradients": false,
           "launches": {"kernel": "40 us", "wait_after_pass": true})",
        0.005);
    expect_same(
        R"("tensor": 2, "pipeline": 2, "data": 2, "micro_batch": 2, "accumulate": 4,
           "overlap_gradients": false, "messages": "blocking", "recompute": "full",
           "launches": "../launches/megatron_deepspeed_by_layer.json")",
        0.005);
}

TEST(FoldedPlan, LeavesOutOnlyWhatOverlappedMessagesSlow) {
    expect_same(
        R"("tensor": 2, "pipeline": 4, "micro_batch": 2, "accumulate": 8, "schedule": "zb_h1")",
        0.02);
}

TEST(FoldedPlan, RefusesWhatIsNotTheSameWhenFolded) {
    EXPECT_EQ(
        refused(R"("data": 8)"),
        "/workload/plan/fold cannot fold this plan: its gradients travel beside a pass; expected "
        "overlap_gradients false");
    EXPECT_EQ(
        refused(R"("data": 8, "overlap_gradients": false, "sharding": "parameters")"),
        "/workload/plan/fold cannot fold this plan: its ranks share gradients in every pass; "
        "expected "
        "sharding none or optimizer");
    EXPECT_EQ(
        refused(R"("tensor": 8, "launches": {"kernel": "40 us"})"),
        "/workload/plan/fold cannot fold this plan: its hosts run ahead from pass to pass; "
        "expected "
        "launches with wait_after_pass, or blocking messages");
    EXPECT_EQ(
        refused(R"("pipeline": 4, "accumulate": 8, "schedule": "chimera")"),
        "/workload/plan/fold cannot fold this plan: chimera runs both ways; expected one");
    EXPECT_EQ(
        refused(R"("accumulate": 2, "mini_batches": 8, "schedule": "two_batches")"),
        "/workload/plan/fold cannot fold this plan: two_batches runs two passes beside each other; "
        "expected one after the other");
}

}  // namespace
}  // namespace switchfold::folded_plan_test
