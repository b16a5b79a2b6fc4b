// SPDX-License-Identifier: Apache-2.0
#include "sim/run/workload/experts_workload.h"

#include "sim/core/error.h"
#include "sim/run/config/load.h"
#include "sim/run/machine/simulate.h"
#include "sim/run/results/summary.h"
#include "sim/run/workload/workload.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchfold::experts_workload_test {
namespace {

constexpr const char* kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/test.json";

Json experiment(const std::string& workload = "{}", const std::string& policy = "{}") {
    Json json = Json::parse(R"({
        "name": "test", "system": "../systems/hgx_h100.json",
        "workload": {"type": "experts", "tokens": 64, "hidden": 1024, "top_k": 4, "experts": 64},
        "scenarios": [{"name": "one", "collectives": {"experts": {}}}]})");
    json["workload"].update(Json::parse(workload));
    json["scenarios"][0]["collectives"]["experts"] = Json::parse(policy);
    return json;
}

/// Problems as "/pointer: message".
std::vector<std::string> problems_of(const Json& json) {
    std::vector<std::string> texts;
    try {
        static_cast<void>(prepare_workload(load_experiment(json, kFile, {})));
    } catch (const ConfigError& error) {
        for (const Problem& problem : error.problems())
            texts.push_back(problem.pointer + ": " + problem.message);
    }
    return texts;
}

TEST(ExpertsWorkload, SaysWhereBadInputIs) {
    struct Wrong {
        Json json;
        std::string begin;
    };
    const std::string policy = "/scenarios/0/collectives/experts";
    const std::vector<Wrong> wrongs{
        {experiment(R"({"top_k": 65})"), "/workload/top_k: "},
        {experiment(R"({"top_k": 9, "experts": 8})"), "/workload/top_k: is 9, and there are 8"},
        {experiment(R"({"hidden": 0})"), "/workload/hidden: "},
        {experiment(R"({"hidden": 1000})"), "/workload/hidden: is 1000, and fp8 has a scale"},
        {experiment(R"({"tokens": 0})"), "/workload/tokens: "},
        {experiment(R"({"experts": 60})"), "/workload/experts: is 60, which 8 ranks cannot share"},
        {experiment(R"({"ranks": 1})"), "/workload/ranks: is 1"},
        {experiment(R"({"ranks": 16})"), "/workload/ranks: is 16, more than the 8 GPUs"},
        {experiment(R"({"payload": "fp9"})"), "/workload/payload: "},
        {experiment(R"({"tokens": 1000000, "top_k": 64})"), "/workload/tokens: is 1000000"},
        {experiment("{}", R"({"sms": 21})"), policy + "/sms: is 21, and half of the SMs send"},
        {experiment("{}", R"({"sms": 200})"), policy + "/sms: is 200, more than the 132 SMs"},
        {experiment("{}", R"({"chunk": 129})"), policy + "/chunk: "},
        {experiment("{}", R"({"library": "deepep"})"), policy + "/library: "},
        {experiment("{}", R"({"library": "trtllm_two_sided"})"),
         policy +
             "/library: is trtllm_two_sided, which hgx_h100 cannot run: its collectives state"},
        {experiment(R"({"tokens": 20000})", R"({"library": "deepep_low_latency"})"),
         policy + "/library: is deepep_low_latency, which hgx_h100 cannot run: its buffers"}};
    for (const Wrong& wrong : wrongs) {
        const std::vector<std::string> problems = problems_of(wrong.json);
        ASSERT_EQ(problems.size(), 1U) << wrong.begin;
        EXPECT_EQ(problems[0].substr(0, wrong.begin.size()), wrong.begin) << problems[0];
        EXPECT_NE(problems[0].find("expected"), std::string::npos) << problems[0];
    }
    EXPECT_TRUE(problems_of(experiment()).empty());
}

TEST(ExpertsWorkload, RefusesTooFewThreadBlocks) {
    const auto limited = [](const char* library, const char* limit, std::uint32_t blocks) {
        Json json =
            experiment(R"({"experts": 256})", fmt::format(R"({{"library": "{}"}})", library));
        json["scenarios"][0][limit] = blocks;
        return problems_of(json);
    };
    for (const char* limit : {"max_ctas", "communication_sms"}) {
        EXPECT_EQ(
            limited("deepep_normal", limit, 1),
            std::vector<std::string>{fmt::format(
                "/scenarios/0/{}: is 1, and an exchange of 256 experts by deepep_normal takes 2 "
                "thread blocks; expected at least those",
                limit)});
        // 32 warps of a block, one for each expert.
        ASSERT_EQ(limited("deepep_low_latency", limit, 7).size(), 1U);
        EXPECT_NE(
            limited("deepep_low_latency", limit, 7)[0].find("takes 8 thread blocks"),
            std::string::npos);
        EXPECT_TRUE(limited("deepep_normal", limit, 3).empty());
        EXPECT_TRUE(limited("deepep_low_latency", limit, 8).empty());
        EXPECT_TRUE(limited("in_switch", limit, 1).empty());
    }
}

TEST(ExpertsWorkload, RefusesMachinesThatCannot) {
    Json a100 = experiment();
    a100["system"] = "../systems/dgx_a100.json";
    ASSERT_EQ(problems_of(a100).size(), 1U);
    EXPECT_NE(problems_of(a100)[0].find("copy_round"), std::string::npos);
    Json two = experiment();
    two["system"] = "../systems/dgx_h100_ndr.json";
    two["workload"]["ranks"] = 16;
    ASSERT_EQ(problems_of(two).size(), 1U);
    EXPECT_NE(problems_of(two)[0].find("lie on 2 machines"), std::string::npos);
}

/// The machine and exchange that a scenario sets are checked instead of the experiment's.
TEST(ExpertsWorkload, LooksAtWhatAScenarioSets) {
    const auto problems_of_set = [](const Json& set) {
        Json json = experiment();
        json["scenarios"].push_back({{"name", "other"}, {"set", set}});
        std::vector<std::string> texts;
        try {
            const LoadedExperiment loaded = load_experiment(json, kFile, {});
            for (const Variant& variant : variants_of(loaded))
                static_cast<void>(prepare_workload(loaded, variant));
        } catch (const ConfigError& error) {
            for (const Problem& problem : error.problems())
                texts.push_back(problem.pointer + ": " + problem.message);
        }
        return texts;
    };
    EXPECT_TRUE(problems_of_set({{"/workload/tokens", 32}}).empty());
    const auto machine = problems_of_set({{"/system", "../systems/dgx_a100.json"}});
    ASSERT_EQ(machine.size(), 1U);
    EXPECT_EQ(
        machine[0].rfind("/scenarios/1/collectives/experts/library: is deepep_normal, which ", 0),
        0U)
        << machine[0];
    EXPECT_NE(machine[0].find("dgx_a100"), std::string::npos);
    const auto exchange = problems_of_set({{"/workload/experts", 60}});
    ASSERT_EQ(exchange.size(), 1U);
    EXPECT_EQ(exchange[0].rfind("/scenarios/1/set/~1workload~1experts: is 60, which 8", 0), 0U)
        << exchange[0];
}

TEST(ExpertsWorkload, RunsOneAfterTheOther) {
    const LoadedExperiment loaded = load_experiment(experiment(), kFile, {});
    const PreparedWorkload workload = prepare_workload(loaded);
    EXPECT_EQ(workload.report.type, "experts");
    SimulateOptions options;
    options.functional_seed = 1;
    const Outcome outcome = simulate(
        *loaded.experiment.system,
        workload.graph,
        loaded.experiment.scenarios[0].policies(),
        options);
    const auto results = collective_results(workload.graph, outcome);
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(results[0].name, "world moe_dispatch 0");
    EXPECT_EQ(results[0].algorithm, "deepep_normal");
    EXPECT_EQ(results[0].channels, 20U);
    EXPECT_EQ(results[1].name, "world moe_combine 1");
    // A token is sent once to each of its distinct destination ranks, about 3.5 on average.
    EXPECT_NEAR(static_cast<double>(results[0].size_bytes) / (1056 * 64), 3.6, 0.4);
    EXPECT_NEAR(
        static_cast<double>(results[1].size_bytes) / static_cast<double>(results[0].size_bytes),
        2048.0 / 1056,
        1e-9);
}

TEST(ExpertsWorkload, TheSameSeedIsTheSameTime) {
    const auto time_of = [](std::uint64_t seed) {
        Json json = experiment();
        json["seed"] = seed;
        json["workload"]["tokens"] = 700;
        const LoadedExperiment loaded = load_experiment(json, kFile, {});
        return simulate(
                   *loaded.experiment.system,
                   prepare_workload(loaded).graph,
                   loaded.experiment.scenarios[0].policies(),
                   SimulateOptions())
            .end_ps;
    };
    EXPECT_EQ(time_of(3), time_of(3));
    EXPECT_NE(time_of(3), time_of(4));
}

}  // namespace
}  // namespace switchfold::experts_workload_test
