// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/experts/experts_workload.h"

#include "core/error.h"
#include "sim/config/load.h"
#include "sim/machine/simulate.h"
#include "sim/results/summary.h"
#include "sim/workload/workload.h"
#include "workloads/readers/trace_format/trace_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
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

Json with_splits(const std::string& splits, std::uint32_t ranks = 8) {
    Json json = experiment();
    json["workload"].erase("tokens");
    json["workload"]["splits"] = Json::parse(splits);
    json["workload"]["ranks"] = ranks;
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
        {experiment(R"({"tokens": null})"), "/workload/tokens: is missing; expected the tokens"},
        {experiment(R"({"splits": {"rows": [[1]]}})"), "/workload/tokens: is given, and splits"},
        {with_splits(R"({"rows": [[1, 2], [3]]})"), "/workload/splits/rows/1: has 1 numbers"},
        {with_splits(R"({"rows": [[1, 2], [3, 4]]})"), "/workload/splits/rows: has 2 lists"},
        {with_splits(R"({"rows": [[0, 0], [0, 0]]})", 2), "/workload/splits: has 0 rows"},
        {with_splits(R"({})"), "/workload/splits/rows: is missing, and no trace"},
        {with_splits(R"({"rows": [[1, 2], [3, 4]], "call": 1})", 2), "/workload/splits/call: is"},
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
        *loaded.experiment.system, workload.graph, loaded.experiment.scenarios[0].policies(),
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
        2048.0 / 1056, 1e-9);
}

/// A run of two ranks in switchfold's own format: an even all-to-all, and one of unequal parts.
std::string trace_of_two_ranks(std::vector<std::uint64_t> parts) {
    TraceWorkload trace;
    ExecutionGraph& graph = trace.graph;
    graph.groups = {{"world", {0, 1}}};
    graph.names = {"even", "uneven"};
    const std::vector<Bytes> sent{Bytes(parts[0] + parts[1]), Bytes(parts[2] + parts[3])};
    graph.exchanges = {{2, std::move(parts)}};
    graph.provenance.world_size = 2;
    for (std::uint32_t number = 0; number < 2; ++number) {
        auto rank = std::make_shared<RankGraph>();
        rank->streams = {{StreamKind::kGpu, "7", 0}};
        for (std::uint32_t i = 0; i < 2; ++i) {
            CollectiveOperation c;
            c.kind = CollectiveKind::kAllToAll;
            c.datatype = Datatype::kBfloat16;
            c.bytes = i == 0 ? Bytes(2 * 2048 * 6) : sent[number];
            c.sequence = i;
            c.exchange = i;
            Operation operation;
            operation.name = i;
            operation.body = c;
            rank->operations.push_back(operation);
        }
        graph.ranks.push_back(rank);
        trace.measured.emplace_back();
        for (std::uint32_t i = 0; i < 2; ++i)
            trace.measured.back().push_back({});
        trace.files.emplace_back();
        trace.files.back().rank = number;
        trace.files.back().world_size = 2;
    }
    const std::string path = ::testing::TempDir() + "experts_splits.swt";
    write_trace(trace, path, "a test");
    return path;
}

TEST(ExpertsWorkload, TakesSplitsFromTheExperimentOrATrace) {
    const Json rows = with_splits(R"({"rows": [[4, 9], [0, 5]]})", 2);
    Json traced = rows;
    traced["workload"]["splits"] = {
        {"trace", {trace_of_two_ranks({4 * 2048, 9 * 2048, 0, 5 * 2048})}}, {"call", 1}};
    const auto splits_of = [](const Json& json) {
        return prepare_workload(load_experiment(json, kFile, {})).graph.experts.front().splits;
    };
    EXPECT_EQ(splits_of(rows), (std::vector<std::uint32_t>{4, 9, 0, 5}));
    EXPECT_EQ(splits_of(traced), splits_of(rows));
    traced["workload"]["splits"]["call"] = 0;
    EXPECT_EQ(splits_of(traced), (std::vector<std::uint32_t>{6, 6, 6, 6}));
    traced["workload"]["splits"]["call"] = 2;
    ASSERT_EQ(problems_of(traced).size(), 1U);
    EXPECT_TRUE(problems_of(traced)[0].starts_with("/workload/splits/call: is 2, and the"))
        << problems_of(traced)[0];
    traced["workload"]["splits"]["call"] = 1;
    traced["workload"]["hidden"] = 2048;
    ASSERT_EQ(problems_of(traced).size(), 1U);
    EXPECT_TRUE(problems_of(traced)[0].starts_with("/workload/hidden: is 2048"))
        << problems_of(traced)[0];
    traced["workload"]["hidden"] = 1024;
    traced["workload"].erase("ranks");
    ASSERT_EQ(problems_of(traced).size(), 1U);
    EXPECT_TRUE(
        problems_of(traced)[0].starts_with("/workload/splits/call: is an all-to-all of 2 ranks, "))
        << problems_of(traced)[0];
}

TEST(ExpertsWorkload, RunsSplitsWithEveryLibrary) {
    for (const char* library : {"deepep_normal", "deepep_low_latency", "in_switch", "nccl"}) {
        Json json = with_splits(R"({"rows": [[40, 90, 0], [0, 0, 0], [5, 300, 1]]})", 3);
        json["workload"]["experts"] = 63;
        json["scenarios"][0]["collectives"]["experts"]["library"] = library;
        const LoadedExperiment loaded = load_experiment(json, kFile, {});
        SimulateOptions options;
        options.functional_seed = 1;
        const PreparedWorkload workload = prepare_workload(loaded);
        const Outcome outcome = simulate(
            *loaded.experiment.system, workload.graph, loaded.experiment.scenarios[0].policies(),
            options);
        const auto results = collective_results(workload.graph, outcome);
        ASSERT_EQ(results.size(), 2U) << library;
        EXPECT_EQ(results[0].name, "world moe_dispatch 0");
        EXPECT_EQ(results[0].algorithm, library);
        EXPECT_EQ(results[1].name, "world moe_combine 1");
    }
}

TEST(ExpertsWorkload, TheSameSeedIsTheSameTime) {
    const auto time_of = [](std::uint64_t seed) {
        Json json = experiment();
        json["seed"] = seed;
        json["workload"]["tokens"] = 700;
        const LoadedExperiment loaded = load_experiment(json, kFile, {});
        return simulate(
                   *loaded.experiment.system, prepare_workload(loaded).graph,
                   loaded.experiment.scenarios[0].policies(), SimulateOptions())
            .end_ps;
    };
    EXPECT_EQ(time_of(3), time_of(3));
    EXPECT_NE(time_of(3), time_of(4));
}

}  // namespace
}  // namespace switchfold::experts_workload_test
