// SPDX-License-Identifier: Apache-2.0
// Simulations of generated training steps that follow a memory plan.
#include "core/error.h"
#include "core/json.h"
#include "sim/config/load.h"
#include "sim/runner.h"
#include "sim/workload/simulated_memory_plans.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace switchfold::memory_choice_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/test.json";

LoadedExperiment load(
    const std::string& network, const std::string& plan,
    const std::string& system = "hgx_h100_host", const std::string& algorithm = "ring") {
    const std::string text = fmt::format(
        R"({{
          "name": "test", "system": "../systems/{}.json", "causes": false,
          "workload": {{"type": "training", "precision": "single", "network": {}, "plan": {{{}}}}},
          "scenarios": [{{"name": "one", "all_reduce": {{"algorithm": "{}"}}}}]
        }})",
        system, network, plan, algorithm);
    return load_experiment(Json::parse(text), kFile, {});
}

ScenarioResult
run(const std::string& network, const std::string& plan,
    const std::string& system = "hgx_h100_host", const std::string& algorithm = "ring") {
    return run_experiment(load(network, plan, system, algorithm), {}).scenarios.front();
}

std::string refused(const std::string& network, const std::string& plan) {
    try {
        (void)run(network, plan);
    } catch (const ConfigError& error) {
        std::string all;
        for (const Problem& problem : error.problems())
            all += problem.pointer + " " + problem.message + "\n";
        return all;
    }
    return "nothing";
}

constexpr const char* kFourEqual =
    R"({"type": "gpt", "layers": 4, "hidden": 1024, "heads": 16, "sequence": 128, "vocabulary": 16})";

TEST(MemoryChoice, ADelayedUpdateNeedsOneBufferAndNoMoreTime) {
    const auto takes = [](const char* updates) {
        return run(
            kFourEqual,
            fmt::format(R"("memory": {{"planner": "none", "updates": "{}"}})", updates));
    };
    const ScenarioResult batch = takes("batch");
    const ScenarioResult delayed = takes("delayed");
    EXPECT_LE(delayed.iteration_us, batch.iteration_us * 1.0001);
    EXPECT_LE(*delayed.peak_memory_gib, *batch.peak_memory_gib);
}

/// An optimal plan makes few copies and hides most of them; with everything offloaded, copies are
/// exposed.
TEST(MemoryChoice, WhatTravelsTakesTime) {
    const auto takes = [](const char* memory) {
        return run("\"alexnet\"", fmt::format(R"("micro_batch": 64, "memory": {{{}}})", memory))
            .iteration_us;
    };
    const double all_stays = takes(R"("planner": "none")");
    const double planned = takes(R"("planner": "optimal", "bytes": "1100 MiB")");
    const double offloaded = takes(R"("planner": "offload_all", "bytes": "1100 MiB")");
    EXPECT_GT(planned, all_stays);
    EXPECT_GT(offloaded, planned);
}

/// GPUs that share the path to the host slow each other's copies. The memory plan does not account
/// for this; the simulation does.
TEST(MemoryChoice, NeighboursThatOffloadTooMakeItSlower) {
    const auto takes = [](int ranks) {
        return run("\"alexnet\"",
                   fmt::format(
                       R"("micro_batch": 64, "data": {},
                          "memory": {{"planner": "offload_all", "bytes": "2 GiB"}})",
                       ranks),
                   "dgx2_v100_host")
            .iteration_us;
    };
    EXPECT_GT(takes(4), 1.5 * takes(1));
}

/// The largest micro-batch leaves room for the workspace of recomputed blocks.
TEST(MemoryChoice, WithoutAPlannerTheLargestMicroBatchCountsWorkspace) {
    const auto told = [](std::uint32_t micro_batch) {
        return refused(
            "\"gpt_1_5b\"", fmt::format(R"("micro_batch": {}, "recompute": "full")", micro_batch));
    };
    const std::string what = told(512);
    EXPECT_EQ(what.find("/workload/plan/micro_batch is 512, which needs "), 0U) << what;
    EXPECT_NE(what.find(", workspace "), std::string::npos) << what;
    const std::size_t at = what.find("; expected at most ");
    ASSERT_NE(at, std::string::npos) << what;
    const auto largest = static_cast<std::uint32_t>(std::stoul(what.substr(at + 19)));
    EXPECT_NE(
        told(largest + 1).find(fmt::format("; expected at most {}", largest)), std::string::npos);
}

/// The first layer's weights stay in the staging ring from the end of one step to the start of the
/// next.
TEST(MemoryChoice, WhatStaysOverTheEndOfAStepMayGoInBetween) {
    EXPECT_GT(
        run("\"alexnet\"",
            R"("memory": {"planner": "offload_all", "weights_travel": true, "updates": "delayed"})")
            .iteration_us,
        0);
}

/// ZeRO-Offload: ranks of one machine share the cores of their host.
TEST(MemoryChoice, AHostThatUpdatesForMoreRanksTakesAsLongForAllParameters) {
    const auto takes = [](int ranks) {
        return run(kFourEqual, fmt::format(
                                   R"("data": {}, "memory":
                          {{"planner": "none", "updater": "host", "host_rate": 1e8}})",
                                   ranks))
            .iteration_us;
    };
    // Half a second for 50 million parameters, whoever has them.
    EXPECT_GT(takes(1), 450e3);
    EXPECT_NEAR(takes(4) / takes(1), 1, 0.05);
}

TEST(MemoryChoice, MicroBatchesShardsAndRecomputedBlocksAreSimulated) {
    const auto takes = [](const char* plan) {
        return run(kFourEqual, fmt::format(R"({}, "memory": {{"planner": "none"}})", plan));
    };
    const ScenarioResult one = takes(R"("data": 2, "micro_batch": 2)");
    const ScenarioResult three = takes(R"("data": 2, "micro_batch": 2, "accumulate": 3)");
    EXPECT_GT(three.iteration_us, one.iteration_us);
    EXPECT_LT(three.iteration_us, 3 * one.iteration_us);
    // From the second on, a micro-batch's activations lie beside the gradients of all weights.
    EXPECT_GE(*three.peak_memory_gib, *one.peak_memory_gib);
    EXPECT_LT(*three.peak_memory_gib, 1.2 * *one.peak_memory_gib);
    const ScenarioResult shared = takes(R"("data": 2, "micro_batch": 2, "sharding": "optimizer")");
    EXPECT_LT(*shared.peak_memory_gib, *one.peak_memory_gib);
    const ScenarioResult again = takes(R"("micro_batch": 32, "recompute": "full")");
    const ScenarioResult kept = takes(R"("micro_batch": 32)");
    // A plan of memory reserves more than a run holds at its peak: that much keeps a part alone.
    const ScenarioResult part = run(
        kFourEqual,
        fmt::format(
            R"("micro_batch": 32, "recompute": "exact", "memory": {{"planner": "none", "bytes": "{} KiB"}})",
            static_cast<std::uint64_t>(*kept.peak_memory_gib * 1024 * 1024)));
    EXPECT_LE(*part.peak_memory_gib, *kept.peak_memory_gib);
    EXPECT_GE(part.iteration_us, kept.iteration_us);
    EXPECT_LE(part.iteration_us, again.iteration_us);
    EXPECT_GT(again.iteration_us, kept.iteration_us);
    EXPECT_LT(*again.peak_memory_gib, *kept.peak_memory_gib);
}

/// Two ranks share each layer: each offloads its part, and their all-reduces wait for no copies.
TEST(MemoryChoice, TensorParallelRanksOffloadTheirParts) {
    const char* gpt =
        R"({"type": "gpt", "layers": 4, "hidden": 512, "heads": 8, "sequence": 256, "vocabulary": 4096})";
    const auto needs = [&](const char* plan) { return *run(gpt, plan).peak_memory_gib; };
    const double whole = needs(R"("micro_batch": 16, "memory": {"planner": "none"})");
    const double part =
        needs(R"("tensor": 2, "sequence": true, "micro_batch": 16, "memory": {"planner": "none"})");
    EXPECT_LT(part, 0.6 * whole);
    EXPECT_GT(part, 0.4 * whole);
    const ScenarioResult offloaded = run(
        gpt,
        R"("tensor": 2, "sequence": true, "micro_batch": 16, "memory": {"planner": "offload_all"})");
    EXPECT_LT(*offloaded.peak_memory_gib, part);
    // Ranks that share samples have whole weights, and a part of the activations.
    const double shared =
        needs(R"("context": 2, "micro_batch": 16, "memory": {"planner": "none"})");
    EXPECT_LT(shared, whole);
    EXPECT_GT(shared, part);
    EXPECT_NE(
        refused(gpt, R"("context": 2, "memory": {"updater": "host"})")
            .find("shares samples; expected context 1"),
        std::string::npos);
}

TEST(MemoryChoice, SaysWhatDoesNotFitAndWhatWould) {
    const std::string what = refused(
        "\"vgg16\"", R"("micro_batch": 64, "memory": {"planner": "none", "bytes": "4 GiB"})");
    EXPECT_NE(what.find("/workload/plan/memory/bytes is 4096.0 MiB: needs "), std::string::npos)
        << what;
    EXPECT_NE(what.find("; at most micro_batch "), std::string::npos) << what;
    EXPECT_NE(
        refused("\"vgg16\"", R"("memory": {"planner": "none", "bytes": "400 MiB"})")
            .find("not even one sample fits"),
        std::string::npos);
    EXPECT_NE(
        refused("\"vgg16\"", R"("memory": {"planner": "none", "bytes": "2 TiB"})")
            .find("/workload/plan/memory/bytes is 2097152.0 MiB, and "),
        std::string::npos);
    EXPECT_NE(
        refused("\"vgg16\"", R"("recompute": "exact")")
            .find("/workload/plan/recompute is exact, which a plan of memory chooses"),
        std::string::npos);
    EXPECT_NE(
        refused("\"vgg16\"", R"("recompute_every": 2)")
            .find("/workload/plan/recompute_every joins blocks of recompute full"),
        std::string::npos);
    EXPECT_NE(
        refused("\"vgg16\"", R"("memory": {"updates": "delayed", "gradient_ring": "1 MiB"})")
            .find("/workload/plan/memory/gradient_ring is 1048576 bytes"),
        std::string::npos);
}

TEST(MemoryChoice, EveryPlannerIsSimulatedOrSaysWhyNot) {
    SimulatedMemoryOptions options;
    options.memories = {600ULL << 20U, 2ULL << 30U};
    const auto plans = simulate_memory_plans(load("\"alexnet\"", R"("micro_batch": 64)"), options);
    EXPECT_EQ(plans.size(), 16U);
    for (const SimulatedMemoryPlan& plan : plans) {
        if (plan.refusal.empty()) {
            EXPECT_GT(plan.seconds, 0);
            EXPECT_LE(plan.peak_gib * (1ULL << 30U), static_cast<double>(plan.memory) * 1.000001);
        }
    }
    EXPECT_TRUE(std::any_of(plans.begin(), plans.end(), [](const SimulatedMemoryPlan& plan) {
        return plan.planner == OffloadPlanner::kNone && plan.refusal.empty();
    }));
    EXPECT_TRUE(std::any_of(plans.begin(), plans.end(), [](const SimulatedMemoryPlan& plan) {
        return !plan.refusal.empty();
    }));
}

}  // namespace
}  // namespace switchfold::memory_choice_test
