// SPDX-License-Identifier: Apache-2.0
// Systems whose ranks have different GPUs, unequally divided batches and slow ranks.
#include "core/error.h"
#include "core/json.h"
#include "core/random_stream.h"
#include "sim/config/load.h"
#include "sim/config/rank_gpus.h"
#include "sim/machine/describe.h"
#include "sim/output/writers.h"
#include "sim/runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace switchfold::unequal_gpus_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/test.json";

constexpr const char* kSystem = "../systems/a100_2080ti_t4_ethernet.json";
constexpr const char* kGpt =
    R"({"type": "gpt", "layers": 2, "hidden": 256, "heads": 4, "sequence": 128, "vocabulary": 512})";

LoadedExperiment
load(const std::string& system, const std::string& workload, const std::string& more = "") {
    const std::string text = fmt::format(
        R"({{"name": "test", "system": {}, "causes": false, "workload": {},
             "scenarios": [{{"name": "ring", "all_reduce": {{"algorithm": "ring"}}}}]{}}})",
        system, workload, more);
    return load_experiment(Json::parse(text), kFile, {});
}

std::string training(const std::string& plan, const std::string& network = kGpt) {
    return fmt::format(R"({{"type": "training", "network": {}, "plan": {{{}}}}})", network, plan);
}

std::string quoted(const char* text) {
    return fmt::format("\"{}\"", text);
}

ScenarioResult only(const LoadedExperiment& loaded) {
    RunOptions options;
    options.in_process = true;
    return run_experiment(loaded, options).scenarios.front();
}

std::string notes_of(const LoadedExperiment& loaded) {
    RunOptions options;
    options.in_process = true;
    std::string all;
    for (const std::string& note : run_experiment(loaded, options).workload.notes)
        all += note + "\n";
    return all;
}

template <class Run>
std::string problems_of(const Run& run) {
    try {
        run();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}
std::string
problems_of(const std::string& system, const std::string& workload, const std::string& more = "") {
    return problems_of([&] { only(load(system, workload, more)); });
}

TEST(RankGpus, EqualParametersAreOneKind) {
    SystemParams system =
        load_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/a100_2080ti_t4_ethernet.json", {});
    const RankGpus gpus(system);
    EXPECT_EQ(gpus.kinds().size(), 3U);
    EXPECT_EQ(gpus.of(0).name, "NVIDIA A100 SXM4 40 GB");
    EXPECT_EQ(gpus.of(1).name, "NVIDIA GeForce RTX 2080 Ti");
    EXPECT_EQ(gpus.of(2).name, "NVIDIA Tesla T4");
    EXPECT_EQ(gpus.used(2), (std::set<std::uint32_t>{0, 1}));
    const RankGpus placed(system, {2, 0});
    EXPECT_EQ(placed.of(0).name, "NVIDIA Tesla T4");
    EXPECT_EQ(placed.of(1).name, "NVIDIA A100 SXM4 40 GB");
    system.gpus[1].gpu = system.gpu;
    EXPECT_EQ(RankGpus(system).kinds().size(), 2U);
    EXPECT_EQ(RankGpus(system).kind(2), 0U);
}

TEST(RankGpus, RanksThatFollowEachOtherOnMachinesAreSoManyOfEach) {
    const SystemParams system =
        load_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/dgx_h100_ndr.json", {});
    using Places = std::vector<std::uint32_t>;
    const auto ranks = [&](const Places& places) {
        return RankGpus(system, places).in_order_on_machines();
    };
    EXPECT_EQ(RankGpus(system).in_order_on_machines(), 8U);
    EXPECT_EQ(ranks({0, 1, 2, 3}), 4U);
    EXPECT_EQ(ranks({6, 7, 8, 9}), 2U);
    EXPECT_EQ(ranks({8, 9, 0, 1}), 2U);
    EXPECT_EQ(ranks({0, 8}), 1U);
    EXPECT_EQ(ranks({5, 6, 7, 8}), 0U);     // three and one
    EXPECT_EQ(ranks({0, 8, 1, 9}), 0U);     // in turn
    EXPECT_EQ(ranks({0, 1, 8, 9, 2}), 0U);  // back again
}

TEST(UnequalGpus, DescribeNamesEveryKind) {
    const SystemParams system =
        load_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/a100_2080ti_t4_ethernet.json", {});
    const std::string text = describe_system(system);
    EXPECT_EQ(
        text.substr(0, text.find('\n')),
        "a100_2080ti_t4_ethernet: 1 x NVIDIA A100 SXM4 40 GB, 1 x NVIDIA GeForce RTX 2080 Ti, "
        "1 x NVIDIA Tesla T4");
    EXPECT_NE(text.find("  NVIDIA Tesla T4: SMs 40, L2 4 MiB"), std::string::npos);
}

/// The result of a run as text, without the configuration and the host.
std::string told(const std::string& system, const std::string& workload) {
    RunOptions options;
    options.in_process = true;
    ExperimentResult result = run_experiment(load(system, workload), options);
    result.config_digest.clear();
    result.effective_config = "{}";
    result.host = {};
    return to_result_json(result);
}

/// Some of a machine's four GPUs are listed as kinds of their own that equal the machine's kind.
TEST(UnequalGpus, CopiesOfTheSameKindChangeNothing) {
    const std::string gpu = R"("../systems/gpus/rtx2080ti.json")";
    const auto system = [&](const std::string& gpus) {
        return fmt::format(R"({{"$base": "../systems/rtx2080ti_pcie.json", "gpus": [{}]}})", gpus);
    };
    RandomStream random(1, "unequal");
    for (int i = 0; i < 6; ++i) {
        std::string kinds;
        for (std::uint32_t rank = 0; rank < 4; ++rank)
            if (random.below(2) == 1)
                kinds += fmt::format(
                    R"({}{{"ranks": {}, "gpu": {}}})", kinds.empty() ? "" : ", ", rank, gpu);
        const std::string plan = std::vector<std::string>{
            R"("data": 4, "micro_batch": 2)", R"("data": 2, "pipeline": 2, "accumulate": 2)",
            R"("data": 2, "tensor": 2, "global_batch": 7, "micro_batch": 2)"}[i % 3];
        EXPECT_EQ(told(system(kinds), training(plan)), told(system(""), training(plan)))
            << kinds << "; " << plan;
    }
    const std::string strategy = fmt::format(
        R"({{"type": "training", "network": {}, "batch": 2, "strategy": "fully_sharded"}})", kGpt);
    EXPECT_EQ(
        told(system(fmt::format(R"({{"ranks": "1-2", "gpu": {}}})", gpu)), strategy),
        told(system(""), strategy));
}

/// Random kinds on random ranks: every simulation ends, and balanced shares are no slower than
/// equal ones.
TEST(UnequalGpus, RandomMixturesEndAndTheSlowestKindIsWaitedFor) {
    RandomStream random(2, "unequal");
    const std::vector<std::string> kinds{"a100_40gb", "rtx2080ti", "t4"};
    for (int i = 0; i < 4; ++i) {
        std::string gpus;
        std::vector<std::size_t> of;
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            of.push_back(random.below(kinds.size()));
            gpus += fmt::format(
                R"({}{{"ranks": [{}], "gpu": "../systems/gpus/{}.json"}})", rank == 0 ? "" : ", ",
                rank, kinds[of.back()]);
        }
        const std::string system =
            fmt::format(R"({{"$base": "../systems/rtx2080ti_pcie.json", "gpus": [{}]}})", gpus);
        const auto run = [&](const std::string& division) {
            return only(load(
                system, training(fmt::format(
                            R"("data": 4, "global_batch": 40, "micro_batch": 16, "division": {})",
                            division))));
        };
        const ScenarioResult equal = run(R"("equal")");
        const ScenarioResult balanced = run(R"("balanced")");
        EXPECT_LE(balanced.iteration_us, equal.iteration_us * 1.02) << gpus;
        EXPECT_LE(*balanced.rank_max_over_mean, *equal.rank_max_over_mean * 1.02) << gpus;
    }
}

TEST(UnequalGpus, EachRankComputesAsOnAMachineOfItsOwnKind) {
    const std::string strategy =
        fmt::format(R"({{"type": "training", "network": {}, "batch": 4}})", kGpt);
    const ScenarioResult mixed = only(load(quoted(kSystem), strategy));
    EXPECT_GT(*mixed.rank_max_over_mean, 1.2);
    EXPECT_EQ(*mixed.late_rank, 2);  // the T4
    const auto all_of = [&](const char* gpu) {
        return only(load(
                        fmt::format(
                            R"({{"$base": "{}", "gpu": "../systems/gpus/{}.json", "gpus": []}})",
                            kSystem, gpu),
                        strategy))
            .iteration_us;
    };
    EXPECT_LT(all_of("a100_40gb"), mixed.iteration_us);
    EXPECT_NEAR(all_of("t4"), mixed.iteration_us, 0.05 * mixed.iteration_us);
}

TEST(UnequalGpus, BalancedSharesAreFasterAndTold) {
    const auto plan = [](const char* division) {
        return training(
            fmt::format(
                R"("data": 3, "global_batch": 96, "micro_batch": 64, "division": {})", division),
            "\"resnet18\"");
    };
    const LoadedExperiment balanced = load(quoted(kSystem), plan(R"("balanced")"));
    const ScenarioResult equal = only(load(quoted(kSystem), plan(R"("equal")")));
    const ScenarioResult better = only(balanced);
    EXPECT_LT(better.iteration_us, 0.8 * equal.iteration_us);
    EXPECT_LT(*better.rank_max_over_mean, 1.1);
    EXPECT_GT(*equal.rank_max_over_mean, 1.3);
    EXPECT_LT(*better.rank_deviation_us, *equal.rank_deviation_us / 4);
    const std::string notes = notes_of(balanced);
    EXPECT_NE(notes.find("96 samples are divided"), std::string::npos) << notes;
    EXPECT_NE(notes.find("equal shares 32, 32, 32: "), std::string::npos) << notes;
    EXPECT_NE(notes.find("gradients are summed with weights 0."), std::string::npos) << notes;
}

TEST(UnequalGpus, AReplicaWithoutSamplesTakesNoPart) {
    const LoadedExperiment loaded = load(
        quoted(kSystem),
        training(R"("data": 3, "global_batch": 9, "micro_batch": 8, "division": [6, 3, 0])"));
    const ScenarioResult result = only(loaded);
    for (const CollectiveResult& collective : result.collectives)
        EXPECT_EQ(collective.ranks, 2U);
    EXPECT_NE(
        notes_of(loaded).find("replica 2 has no samples and takes no part"), std::string::npos);
}

TEST(UnequalGpus, GroupsOfRanksAreDividedAsTheirSlowest) {
    const std::string system =
        R"({"$base": "../systems/rtx2080ti_pcie.json", "gpus": [{"ranks": "2-3", "gpu": "../systems/gpus/a100_40gb.json"}]})";
    const std::string notes = notes_of(load(
        system,
        training(
            R"("data": 2, "tensor": 2, "global_batch": 40, "micro_batch": 40, "division": "balanced")")));
    const std::size_t at = notes.find("40 samples are divided ");
    ASSERT_NE(at, std::string::npos) << notes;
    // The second replica's GPUs are faster, so the first gets less than half.
    EXPECT_LT(std::stoi(notes.substr(at + 23)), 20) << notes;
}

TEST(UnequalGpus, EveryRankIsHeldAgainstItsOwnMemory) {
    const auto plan = [](std::uint32_t micro_batch) {
        return training(
            fmt::format(R"("data": 3, "micro_batch": {})", micro_batch), "\"resnet50\"");
    };
    const std::string problems = problems_of(quoted(kSystem), plan(400));
    EXPECT_NE(problems.find("/workload/plan/micro_batch"), std::string::npos) << problems;
    EXPECT_NE(problems.find("GeForce RTX 2080 Ti has 1"), std::string::npos) << problems;
    EXPECT_EQ(problems.find("A100 SXM4 40 GB has"), std::string::npos) << problems;
}

TEST(UnequalGpus, MicroBatchesOfANetworkThatNormalisesAreTold) {
    const auto notes = [](const std::string& plan) {
        return notes_of(load("\"../systems/a100_4gpu.json\"", training(plan, "\"resnet18\"")));
    };
    const std::string of_several = notes(R"("global_batch": 20, "micro_batch": 8)");
    EXPECT_NE(of_several.find("batch normalisation"), std::string::npos) << of_several;
    EXPECT_EQ(notes(R"("micro_batch": 8)").find("batch normalisation"), std::string::npos);
}

TEST(UnequalGpus, WhatExchangesInEachMicroBatchGetsEquallyMany) {
    for (const char* sharding : {"gradients", "parameters"}) {
        const std::string plan = fmt::format(
            R"("data": 2, "global_batch": 24, "micro_batch": 2, "division": [16, 8], "sharding": "{}")",
            sharding);
        const LoadedExperiment loaded = load(quoted(kSystem), training(plan));
        EXPECT_NE(notes_of(loaded).find("every replica has 8 micro-batches"), std::string::npos);
        EXPECT_NEAR(*only(loaded).samples_per_s * only(loaded).iteration_us * 1e-6, 24, 1e-6);
    }
}

TEST(UnequalGpus, ReplicasThatTrainApartWaitAtTheirExchange) {
    const std::string plan =
        R"("data": 2, "global_batch": 24, "micro_batch": 4, "division": [20, 4], "average": {"every": )";
    const auto iteration = [&](int every) {
        return only(load(quoted(kSystem), training(plan + std::to_string(every) + "}")))
            .iteration_us;
    };
    EXPECT_LT(iteration(8), 0.8 * iteration(1));  // the exchange is by Ethernet
}

/// Where a slower GPU joins, all wait for it.
TEST(UnequalGpus, MembersMayBeOfOtherKinds) {
    const auto step_with = [&](const char* joins) {
        const std::string system = fmt::format(
            R"({{"$base": "../systems/hgx_h100_host.json", "name": "mixed",
                 "gpus": [{{"ranks": [2], "gpu": "../systems/gpus/{}.json"}}]}})",
            joins);
        RunOptions options;
        options.in_process = true;
        const ExperimentResult result = run_experiment(
            load(
                system, training(R"("data": 2, "micro_batch": 8)"),
                R"(, "run": {"time": "200 s", "keep": "per_gpu", "costs": "../costs/default.json",
                             "method": "join", "changes": [{"at": 20, "add": 1}]})"),
            options);
        double step_us = 0;
        for (const RunStretchResult& stretch : result.scenarios.front().changes->stretches)
            if (stretch.members == 3 && stretch.kind == "training")
                step_us = stretch.step_us;
        EXPECT_GT(step_us, 0);
        return step_us;
    };
    EXPECT_GT(step_with("a100_40gb"), 1.2 * step_with("h100"));
}

TEST(SlowRanks, TheOthersWaitForTheSlowOneAndForTheLateOne) {
    const std::string system = "\"../systems/a100_4gpu.json\"";
    const std::string step = training(R"("data": 4, "micro_batch": 8, "overlap_gradients": false)");
    const ScenarioResult alike = only(load(system, step));
    EXPECT_FALSE(alike.late_rank);
    EXPECT_FALSE(alike.rank_max_over_mean);
    const ScenarioResult slow =
        only(load(system, step, R"(, "ranks": [{"rank": 2, "compute": 1.5}])"));
    EXPECT_EQ(*slow.late_rank, 2);
    EXPECT_GT(slow.iteration_us, alike.iteration_us);
    EXPECT_NEAR(*slow.rank_max_over_mean, 1.5 / ((3 + 1.5) / 4), 0.02);
    // The other ranks wait for the extra compute time of the passes before the reduction.
    const double passes = alike.forward_us + alike.backward_us;
    EXPECT_NEAR(*slow.waiting_for_late_rank_us, 0.5 * passes, 0.03 * passes);
    const ScenarioResult late =
        only(load(system, step, R"(, "ranks": [{"rank": 1, "delay": "3 ms"}])"));
    EXPECT_EQ(*late.late_rank, 1);
    EXPECT_NEAR(*late.waiting_for_late_rank_us, 3000, 10);
    EXPECT_NEAR(late.iteration_us, alike.iteration_us + 3000, 10);
    ASSERT_FALSE(late.notes.empty());
    EXPECT_NE(late.notes.back().find("for rank 1"), std::string::npos);
}

TEST(UnequalGpus, WrongKindsAndDivisionsAreRefused) {
    const auto kinds = [](const std::string& gpus) {
        return problems_of(
            fmt::format(R"({{"$base": "../systems/rtx2080ti_pcie.json", "gpus": [{}]}})", gpus),
            training(R"("data": 4)"));
    };
    EXPECT_NE(
        kinds(
            R"({"ranks": "0-1", "gpu": "../systems/gpus/t4.json"}, {"ranks": [1], "gpu": "../systems/gpus/t4.json"})")
            .find("/system/gpus/1/ranks: names rank 1, which /gpus/0/ranks names too"),
        std::string::npos);
    EXPECT_NE(
        kinds(R"({"ranks": "3-4", "gpu": "../systems/gpus/t4.json"})")
            .find("/system/gpus/0/ranks: names rank 4 of a machine with 4 GPUs"),
        std::string::npos);
    const auto plan = [](const std::string& text) {
        return problems_of(quoted(kSystem), training(text));
    };
    EXPECT_NE(
        plan(R"("data": 3, "global_batch": 10, "division": [5, 4])")
            .find("/workload/plan/division: has 2 shares, and there are 3 replicas"),
        std::string::npos);
    EXPECT_NE(
        plan(R"("data": 3, "global_batch": 10, "division": [5, 4, 2])")
            .find("/workload/plan/division: adds up to 11 samples, and global_batch is 10"),
        std::string::npos);
    EXPECT_NE(
        plan(R"("data": 3, "division": "balanced")")
            .find("/workload/plan/division: divides a global_batch, and there is none"),
        std::string::npos);
    EXPECT_NE(
        plan(R"("data": 3, "global_batch": 12, "accumulate": 2)")
            .find("/workload/plan/accumulate: is given, and global_batch beside it"),
        std::string::npos);
    EXPECT_NE(
        plan(
            R"("data": 3, "global_batch": 12, "micro_batch": 2, "division": [8, 2, 2], "sharding": "gradients")")
            .find("/workload/plan/division: gives replicas 1, 4 micro-batches"),
        std::string::npos);
    EXPECT_NE(
        plan(R"("pipeline": 3, "partition": "planner")").find("/workload/plan/partition: is for "),
        std::string::npos);
}

TEST(SlowRanks, WrongOnesAreRefused) {
    const auto ranks = [](const std::string& text) {
        return problems_of(
            "\"../systems/a100_4gpu.json\"", training(R"("data": 2)"),
            fmt::format(R"(, "ranks": [{}])", text));
    };
    EXPECT_NE(
        ranks(R"({"rank": 1, "compute": 2}, {"rank": 1})")
            .find("/ranks/1/rank: names rank 1, which /ranks/0/rank names too"),
        std::string::npos);
    EXPECT_NE(
        ranks(R"({"rank": 4})").find("/ranks/0/rank: names rank 4 of a machine with 4 GPUs"),
        std::string::npos);
    EXPECT_NE(
        ranks(R"({"rank": 3})").find("/ranks/0/rank: is 3, which takes no part in the workload"),
        std::string::npos);
    EXPECT_NE(ranks(R"({"rank": 1, "compute": 0})").find("/ranks/0/compute: "), std::string::npos);
}

}  // namespace
}  // namespace switchfold::unequal_gpus_test
