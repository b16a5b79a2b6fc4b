// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/json.h"
#include "core/random_stream.h"
#include "sim/config/load.h"
#include "sim/runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace switchfold::folded_plan_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/folded.json";

constexpr const char* kGpt =
    R"({"type": "gpt", "layers": 4, "hidden": 2048, "heads": 16, "sequence": 1024, "vocabulary": 4096})";
constexpr const char* kExperts =
    R"({"type": "moe", "layers": 4, "hidden": 1024, "heads": 8, "kv_heads": 8, "feed_forward": 2048,
        "experts": 8, "top_k": 2, "sequence": 1024, "vocabulary": 4096})";
constexpr const char* kRings =
    R"({"name": "all"}, {"name": "folded", "set": {"/workload/plan/fold": true}})";
constexpr const char* kInSwitch =
    R"(, {"name": "all, in switch", "all_reduce": {"algorithm": "in_switch"}},
       {"name": "folded, in switch", "set": {"/workload/plan/fold": true}, "all_reduce": {"algorithm": "in_switch"}})";

ExperimentResult
run(const std::string& system, const std::string& network, const std::string& plan,
    const std::string& scenarios, const std::string& fidelity = "auto") {
    const std::string text = fmt::format(
        R"({{
          "name": "folded", "system": {}, "causes": false, "fidelity": "{}",
          "workload": {{"type": "training", "gradient": "bfloat16", "plan": {{{}}}, "network": {}}},
          "scenarios": [{}]
        }})",
        system, fidelity, plan, network, scenarios);
    return run_experiment(load_experiment(Json::parse(text), kFile, {}), {});
}

/// Runs the plan on HGX H100, with every rank and folded.
ExperimentResult both(const std::string& plan) {
    return run(R"("../systems/hgx_h100.json")", kGpt, plan, std::string(kRings) + kInSwitch);
}

/// The folded step against the whole, on machines of 8 H100 with a NIC each.
double
folded_against_all(std::uint32_t machines, const std::string& network, const std::string& plan) {
    const ExperimentResult result = run(
        fmt::format(
            R"({{"$base": "../systems/dgx_h100_ndr.json", "name": "dgx", "topology": {{"nodes": {}}}}})",
            machines),
        network, plan, kRings);
    return result.scenarios[1].iteration_us / result.scenarios[0].iteration_us;
}

/// Measured on random plans: what stands for a collective is no packet on the links.
constexpr double kBesideKernels = 0.02;

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

TEST(FoldedPlan, TakesWhatManyBlocksTakeFromThePaceOfSome) {
    const std::string deep =
        R"({"type": "gpt", "layers": 32, "hidden": 1024, "heads": 16, "sequence": 1024, "vocabulary": 4096})";
    for (const std::string plan :
         {R"("tensor": 8, "micro_batch": 2, "accumulate": 1, "messages": "blocking")",
          R"("tensor": 4, "pipeline": 2, "sequence": true, "micro_batch": 2, "accumulate": 2,
             "messages": "blocking", "recompute": "full")"}) {
        const ExperimentResult result = run(R"("../systems/hgx_h100.json")", deep, plan, kRings);
        EXPECT_NEAR(result.scenarios[1].iteration_us / result.scenarios[0].iteration_us, 1, 0.005)
            << plan;
        EXPECT_TRUE(std::ranges::any_of(
            result.scenarios[1].workload.value_or(result.workload).notes,
            [](const auto& note) {
                return note.find("of many equal blocks of a pass 10 are run") != std::string::npos;
            }))
            << plan;
    }
}

TEST(FoldedPlan, TakesWhatReplicasTakeThatShareNetworkInterfaces) {
    for (const std::string plan :
         {R"("tensor": 8, "data": 4, "overlap_gradients": false)",
          R"("tensor": 2, "data": 16, "overlap_gradients": false)"}) {
        const ExperimentResult result = run(
            R"({"$base": "../systems/dgx_h100_ndr.json", "name": "dgx",
                "topology": {"nodes": 4, "nics": {"count": 4, "pcie_switches": 4}}})",
            kGpt, plan, kRings);
        EXPECT_NEAR(result.scenarios[1].iteration_us / result.scenarios[0].iteration_us, 1, 0.01)
            << plan;
    }
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

TEST(FoldedPlan, TakesWhatGradientsTakeThatAreReducedBesideThePass) {
    // One stage, buckets beside the only backward.
    expect_same(R"("data": 8, "micro_batch": 2, "accumulate": 2)", kBesideKernels);
    expect_same(
        R"("tensor": 2, "sequence": true, "data": 4, "micro_batch": 2, "accumulate": 3,
           "sharding": "optimizer")",
        kBesideKernels);
    // Stages: only their last passes are simulated kernel by kernel.
    expect_same(
        R"("pipeline": 2, "data": 4, "micro_batch": 2, "accumulate": 6, "messages": "blocking")",
        kBesideKernels, 0.02);
}

TEST(FoldedPlan, TakesWhatFullySharedWeightsTake) {
    expect_same(
        R"("data": 8, "micro_batch": 2, "accumulate": 1, "sharding": "parameters")",
        kBesideKernels);
    expect_same(
        R"("tensor": 2, "data": 4, "micro_batch": 2, "accumulate": 2, "sharding": "gradients")",
        kBesideKernels);
}

TEST(FoldedPlan, TakesWhatHostsTakeThatRunAhead) {
    expect_same(
        R"("tensor": 4, "data": 2, "micro_batch": 1, "accumulate": 2,
           "launches": "../launches/pytorch_eager.json")",
        kBesideKernels);
    expect_same(
        R"("tensor": 2, "pipeline": 2, "data": 2, "micro_batch": 1, "accumulate": 4,
           "launches": {"kernel": "12 us", "collective": "20 us"})",
        kBesideKernels, 0.02);
}

TEST(FoldedPlan, TakesWhatTokensTakeThatTravelToExperts) {
    EXPECT_NEAR(
        folded_against_all(
            1, kExperts, R"("data": 8, "expert": 4, "micro_batch": 2, "sharding": "optimizer")"),
        1, kBesideKernels);
    EXPECT_NEAR(
        folded_against_all(2, kExperts, R"("data": 16, "expert": 8, "overlap_gradients": false)"),
        1, kBesideKernels);
}

TEST(FoldedPlan, TakesWhatPassesTakeBesideEachOther) {
    expect_same(
        R"("pipeline": 2, "data": 4, "micro_batch": 2, "accumulate": 6, "schedule": "dualpipe_v",
           "overlap_gradients": false)",
        kBesideKernels, 0.02);
    expect_same(
        R"("tensor": 2, "data": 4, "accumulate": 2, "mini_batches": 8, "schedule": "two_batches")",
        kBesideKernels, 0.02);
}

TEST(FoldedPlan, TakesWhatPassesTakeBothWays) {
    for (const std::string schedule : {"chimera", "dualpipe"})
        for (const std::string overlapped : {"true", "false"})
            expect_same(
                fmt::format(
                    R"("pipeline": 4, "data": 2, "micro_batch": 2, "accumulate": 8,
                       "schedule": "{}", "overlap_gradients": {})",
                    schedule, overlapped),
                kBesideKernels, 0.02);
}

/// Dispatches of the two passes take turns on the links, as their packets would.
TEST(FoldedPlan, TakesWhatExchangesTakeBesideEachOther) {
    EXPECT_NEAR(
        folded_against_all(
            2, kExperts,
            R"("pipeline": 2, "data": 8, "expert": 8, "accumulate": 6, "micro_batch": 2,
               "schedule": "dualpipe")"),
        1, kBesideKernels);
}

TEST(FoldedPlan, TakesWhatRandomPlansTakeOnTwoMachines) {
    RandomStream random(7, "folded plans");
    const auto one_of = [&](const std::vector<std::string>& words) {
        return words[random.below(words.size())];
    };
    for (int i = 0; i < 5; ++i) {
        const std::uint64_t tensor = 1ULL << random.below(3);
        const std::uint64_t pipeline = 1ULL << random.below(2);
        const std::string plan = fmt::format(
            R"("tensor": {}, "pipeline": {}, "data": {}, "accumulate": {}, "micro_batch": {},
               "sharding": "{}", "overlap_gradients": {}, "recompute": "{}", "messages": "blocking",
               "launches": {})",
            tensor, pipeline, 16 / tensor / pipeline, 2 * pipeline, 1 + random.below(2),
            one_of({"none", "optimizer", "gradients", "parameters"}), one_of({"true", "false"}),
            one_of({"none", "full"}),
            one_of({"{}", R"({"kernel": "6 us", "collective": "10 us"})"}));
        EXPECT_NEAR(folded_against_all(2, kGpt, plan), 1, kBesideKernels) << plan;
    }
}

/// Whether a note of a plan of data-parallel ranks says this. `keys`: more of the plan.
bool told(
    std::uint32_t machines, const std::string& what, const std::string& keys = "",
    const std::string& fidelity = "auto") {
    const ExperimentResult result = run(
        fmt::format(
            R"({{"$base": "../systems/dgx_h100_ndr.json", "name": "dgx", "topology": {{"nodes": {}}}}})",
            machines),
        R"({"type": "gpt", "layers": 1, "hidden": 64, "heads": 1, "sequence": 64, "vocabulary": 64})",
        fmt::format(R"("data": {}, "overlap_gradients": false{})", 8 * machines, keys),
        R"({"name": "all"})", fidelity);
    const WorkloadResult& workload = result.scenarios.front().workload.value_or(result.workload);
    return std::ranges::any_of(workload.notes, [&](const std::string& note) {
        return note.find(what) != std::string::npos;
    });
}

TEST(FoldedPlan, IsTheDefaultFrom33RanksOn) {
    const std::string folded = "folded: one rank of each device stands for";
    EXPECT_FALSE(told(4, folded));
    EXPECT_TRUE(told(5, folded));
    EXPECT_FALSE(told(5, folded, R"(, "fold": false)"));
    EXPECT_FALSE(told(5, folded, "", "exact"));
    EXPECT_TRUE(told(1, folded, R"(, "fold": true)", "exact"));
}

TEST(FoldedPlan, IsSuggestedWhereManyRanksAreSimulatedAndNobodySaidSo) {
    const std::string suggested = "/workload/plan/fold true";
    EXPECT_FALSE(told(1, suggested, "", "exact"));
    EXPECT_TRUE(told(9, suggested, "", "exact"));
    EXPECT_FALSE(told(9, suggested, R"(, "fold": false)"));
}

TEST(FoldedPlan, WhatHasNoTwoThatDoTheSameIsSimulatedWholeAndSaysWhy) {
    const auto told = [](const std::string& plan) {
        const ExperimentResult result = both(plan);
        EXPECT_EQ(result.scenarios[0].iteration_us, result.scenarios[1].iteration_us) << plan;
        const WorkloadResult& folded = result.scenarios[1].workload.value_or(result.workload);
        for (const std::string& note : folded.notes)
            if (note.find("although the plan says fold") != std::string::npos)
                return note;
        return std::string();
    };
    EXPECT_NE(
        told(R"("data": 2, "pipeline": 2, "micro_batch": 4, "global_batch": 12)")
            .find("every rank is simulated, although the plan says fold: its last micro-batch is"),
        std::string::npos);
    EXPECT_EQ(told(R"("data": 8, "overlap_gradients": false)"), "");
}

// A slow rank's own kind, and those that wait for it in another way, are simulated beside the rest.
TEST(FoldedPlan, TakesWhatAStepWithASlowRankTakes) {
    for (const char* plan :
         {R"("data": 16, "micro_batch": 2)", R"("tensor": 4, "data": 4, "micro_batch": 2)",
          R"("tensor": 2, "data": 4, "pipeline": 2, "micro_batch": 1, "accumulate": 4)",
          R"("data": 16, "sharding": "parameters", "micro_batch": 2)"}) {
        const std::string slow =
            R"("set": {"/ranks": [{"rank": 5, "compute": 1.3}], "/workload/plan/fold": )";
        const ExperimentResult result = run(
            R"({"$base": "../systems/dgx_h100_ndr.json", "name": "dgx", "topology": {"nodes": 2}})",
            kGpt, plan,
            fmt::format(
                R"({{"name": "alike"}}, {{"name": "all", {0} false}}}}, {{"name": "folded", {0} true}}}})",
                slow));
        const ScenarioResult& alike = result.scenarios[0];
        const ScenarioResult& all = result.scenarios[1];
        const ScenarioResult& folded = result.scenarios[2];
        EXPECT_GT(all.iteration_us, 1.05 * alike.iteration_us) << plan;
        // 2.5 % where a slow rank of a tensor-parallel group comes late to its switch.
        EXPECT_NEAR(folded.iteration_us / all.iteration_us, 1, 0.03) << plan;
        EXPECT_NEAR(*folded.rank_max_over_mean, *all.rank_max_over_mean, 0.03) << plan;
        EXPECT_EQ(folded.late_rank, 5) << plan;
        EXPECT_LT(folded.events, all.events) << plan;
    }
}

// One rank of each kind of GPU, and of those that wait for them in another way, stands for its
// like.
TEST(FoldedPlan, TakesWhatAStepOnUnequalGpusTakes) {
    struct Mixed {
        const char* others;
        const char* plan;
    };
    for (const auto& [others, plan] :
         {Mixed{"8-15", R"("data": 16, "micro_batch": 2)"},
          Mixed{"0-3,8-11", R"("data": 16, "sharding": "optimizer", "micro_batch": 2)"},
          Mixed{"3", R"("data": 16, "sharding": "parameters", "micro_batch": 2)"},
          Mixed{"1,3,5", R"("tensor": 8, "data": 2, "micro_batch": 2)"},
          Mixed{
              "8-15",
              R"("tensor": 2, "data": 4, "pipeline": 2, "micro_batch": 1, "accumulate": 4)"}}) {
        const std::string system = fmt::format(
            R"({{"$base": "../systems/dgx_h100_ndr.json", "name": "mixed", "topology": {{"nodes": 2}},
                 "gpus": [{{"ranks": "{}", "gpu": "../systems/gpus/a100_80gb.json"}}]}})",
            others);
        const ExperimentResult result = run(system, kGpt, plan, kRings);
        const ScenarioResult& all = result.scenarios[0];
        const ScenarioResult& folded = result.scenarios[1];
        EXPECT_NEAR(folded.iteration_us / all.iteration_us, 1, 0.02) << plan;
        EXPECT_LT(folded.events, all.events) << plan;
        const ScenarioResult equal =
            run(R"({"$base": "../systems/dgx_h100_ndr.json", "name": "dgx", "topology": {"nodes": 2}})",
                kGpt, plan, kRings)
                .scenarios[1];
        EXPECT_GT(folded.iteration_us, 1.2 * equal.iteration_us) << plan;
    }
}

TEST(FoldedPlan, RanksThatShareQueuesOfTheNetworkAreSimulatedWhole) {
    const ExperimentResult result =
        run(R"({"$base": "../systems/dgx_h100_ndr.json", "name": "dgx",
                "topology": {"nodes": 2, "congestion": {"routing": "adaptive"}}})",
            kGpt, R"("data": 16, "overlap_gradients": false)", kRings);
    EXPECT_EQ(result.scenarios[0].iteration_us, result.scenarios[1].iteration_us);
    const std::vector<std::string>& notes =
        result.scenarios[1].workload.value_or(result.workload).notes;
    EXPECT_TRUE(std::ranges::any_of(notes, [](const std::string& note) {
        return note.find("queues of the network are made by all of them") != std::string::npos;
    }));
}

// Ranks that stand for others take the largest draws of all at once: an upper estimate.
TEST(FoldedPlan, JitterOfManyRanksIsAtLeastThatOfTheWholeAndGrowsWithTheCluster) {
    const auto step = [](std::uint32_t machines, const std::string& jitter, bool fold) {
        const std::string text = fmt::format(
            R"({{
              "name": "jitter", "causes": false, "jitter": {},
              "system": {{"$base": "../systems/dgx_h100_ndr.json", "name": "dgx",
                          "topology": {{"nodes": {}}}}},
              "workload": {{"type": "training", "gradient": "bfloat16", "network": {},
                            "plan": {{"data": {}, "pipeline": 2, "micro_batch": 1, "accumulate": 4,
                                      "fold": {}}}}},
              "scenarios": [{{"name": "it"}}]
            }})",
            jitter, machines, kGpt, machines * 4, fold);
        return run_experiment(load_experiment(Json::parse(text), kFile, {}), {});
    };
    const auto slower = [&](std::uint32_t machines, bool fold) {
        const std::string jitter = R"({"gpus": 0.02, "kernels": 0.01})";
        return step(machines, jitter, fold).scenarios.front().iteration_us /
               step(machines, "{}", fold).scenarios.front().iteration_us;
    };
    const double whole = slower(2, false);
    const double folded = slower(2, true);
    EXPECT_GT(whole, 1);
    EXPECT_GT(folded, whole - 0.002);
    EXPECT_LT(folded, whole + 0.03);
    EXPECT_GT(slower(16, true), folded + 0.005);
    const auto notes = step(2, R"("../jitter/a100_machine.json")", true).workload.notes;
    EXPECT_TRUE(std::ranges::any_of(notes, [](const std::string& note) {
        return note.starts_with("GPUs differ by 0.53 %, kernels by 0.75 %") &&
               note.find("upper estimate") != std::string::npos;
    }));
}

}  // namespace
}  // namespace switchfold::folded_plan_test
