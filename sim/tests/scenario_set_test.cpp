// SPDX-License-Identifier: Apache-2.0
#include "sim/config/scenario_set.h"

#include "core/error.h"
#include "sim/config/load.h"
#include "sim/config/training_params.h"
#include "sim/runner.h"
#include "sim/workload/workload.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace switchfold::scenario_set_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/made_up.json";

/// A small training step on four GPUs of an HGX H100 with these scenarios.
Json training(const Json& scenarios) {
    return {
        {"name", "test"},
        {"system", "../systems/hgx_h100.json"},
        {"workload",
         {{"type", "training"},
          {"transformer",
           {{"blocks", 2}, {"hidden", 512}, {"sequence", 256}, {"vocabulary", 1000}}},
          {"batch", 4},
          {"ranks", 4}}},
        {"causes", false},
        {"scenarios", scenarios}};
}

LoadedExperiment load(const Json& json, const std::vector<Override>& overrides = {}) {
    return load_experiment(json, kFile, overrides);
}

/// "/pointer: message" of each problem.
std::vector<std::string> problems(const Json& json, const std::vector<Override>& overrides = {}) {
    std::vector<std::string> texts;
    try {
        const LoadedExperiment loaded = load(json, overrides);
        for (const Variant& variant : variants_of(loaded))
            static_cast<void>(prepare_workload(loaded, variant));
    } catch (const ConfigError& error) {
        for (const Problem& problem : error.problems())
            texts.push_back(
                (problem.file == kFile.string() ? "" : problem.file + ": ") + problem.pointer +
                ": " + problem.message);
    }
    return texts;
}

void expect_problem(const Json& set, const std::string& pointer, const std::string& what) {
    const std::vector<std::string> found =
        problems(training({{{"name", "base"}}, {{"name", "x"}, {"set", set}}}));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0].starts_with("/scenarios/1/set" + pointer + ": ")) << found[0];
    EXPECT_NE(found[0].find(what), std::string::npos) << found[0];
}

TEST(ScenarioSet, ChangesOneScenarioAlone) {
    const LoadedExperiment loaded = load(training(
        {{{"name", "base"}},
         {{"name", "bucket"}, {"set", {{"/workload/bucket", "50 MiB"}}}},
         {{"name", "gpu"}, {"set", {{"/system/gpu/sms", 100}, {"/seed", 7}}}},
         {{"name", "again"}, {"set", {{"/workload/bucket", "50 MiB"}}}}}));
    const auto bucket = [&](std::size_t i) {
        return loaded.of(i).workload->as<TrainingWorkloadParams>()->bucket;
    };
    EXPECT_EQ(bucket(0), mebibytes(25));
    EXPECT_EQ(bucket(1), mebibytes(50));
    EXPECT_EQ(bucket(2), mebibytes(25));
    EXPECT_EQ(loaded.of(0).system->gpu->sms, 132U);
    EXPECT_EQ(loaded.of(2).system->gpu->sms, 100U);
    EXPECT_EQ(loaded.of(2).seed, 7U);
    // Scenarios that set the same values share a variant.
    const std::vector<Variant> variants = variants_of(loaded);
    ASSERT_EQ(variants.size(), 3U);
    EXPECT_EQ(variants[0].experiment, &loaded.experiment);
    EXPECT_EQ(variants[1].scenarios, (std::vector<std::size_t>{1, 3}));
}

TEST(ScenarioSet, FormerNamesAreToldOnce) {
    Json json = training(
        {{{"name", "a"}, {"set", {{"/workload/plan/cut", {{"parts", 2u}}}}}},
         {{"name", "b"}, {"set", {{"/workload/plan/cut", {{"parts", 2u}}}}}}});
    json["workload"].erase("strategy");
    json["workload"].erase("batch");
    json["workload"]["plan"] = {{"micro_batch", 4u}};
    const std::vector<std::string> said{
        "made_up.json: /workload/plan/cut is called placement now; the former name is read for "
        "one release"};
    EXPECT_EQ(load(json).notes, said);
    json["workload"]["plan"]["cut"] = {{"parts", 2u}};
    EXPECT_EQ(load(json).notes, said);
}

TEST(ScenarioSet, WhatHoldsAValueComesBeforeTheValue) {
    const LoadedExperiment loaded = load(training(
        {{{"name", "x"},
          {"set", {{"/system/gpu/sms", 64}, {"/system", "../systems/dgx_a100.json"}}}}}));
    EXPECT_EQ(loaded.of(0).system->name, "dgx_a100");
    EXPECT_EQ(loaded.of(0).system->gpu->sms, 64U);
}

TEST(ScenarioSet, TheEffectiveConfigurationSaysWhatWasReadAndRunsTheSame) {
    const Json json =
        training({{{"name", "x"}, {"set", {{"/system", "../systems/dgx_a100.json"}}}}});
    const LoadedExperiment loaded = load(json);
    const Json effective = Json::parse(loaded.effective_config);
    EXPECT_EQ(effective["scenarios"][0]["set"]["/system"]["name"], "dgx_a100");
    const LoadedExperiment again = load(effective);
    EXPECT_EQ(again.digest, loaded.digest);
    EXPECT_EQ(write_value(again.of(0).system), write_value(loaded.of(0).system));
    EXPECT_NE(load(training({{{"name", "x"}}})).digest, loaded.digest);
    // The plan that a strategy stands for is another on a machine of another size.
    EXPECT_TRUE(effective["workload"]["plan"].is_null());
}

TEST(ScenarioSet, WhatIsWrongPointsToItsEntry) {
    expect_problem(
        {{"/workload/buckt", "50 MiB"}}, "/~1workload~1buckt",
        "unknown key, did you mean \"bucket\"?");
    expect_problem({{"/workload/bucket", 50}}, "/~1workload~1bucket", "is 50; expected a string");
    expect_problem(
        {{"/topology/gpus", 4}}, "/~1topology~1gpus", "did you mean \"/system/topology/gpus\"?");
    expect_problem(
        {{"/system", "none.json"}}, "/~1system", "which does not exist; expected a JSON file");
    expect_problem({{"/workload/ranks", 9}}, "/~1workload~1ranks", "more than the 8 GPUs");
    expect_problem(
        {{"/workload", {{"type", "collective"}, {"size", "1 MiB"}}}}, "/~1workload",
        "one table compares all scenarios");
    expect_problem(
        {{"/workload/batch/x", 9}}, "/~1workload~1batch~1x",
        "is not a parameter of the configuration");
    // The scenario's machine cannot run the workload, which the scenario does not set.
    expect_problem(
        {{"/system", "../systems/h100_pcie_nvbridge.json"}}, "", "makes /workload/ranks invalid");
}

TEST(ScenarioSet, WhatIsNotAScenariosOwnIsRefusedWithAReason) {
    expect_problem(
        {{"/scenarios/0/overlap", false}}, "/~1scenarios~10~1overlap", "stand beside set");
    expect_problem({{"/name", "x"}}, "/~1name", "one name for all scenarios");
    expect_problem({{"/$base", "x.json"}}, "/~1$base", "is not a parameter");
    expect_problem({{"workload", 3}}, "/workload", "is not a JSON pointer");
    expect_problem({{"", 3}}, "/", "is not a JSON pointer");
}

TEST(ScenarioSet, AllThatIsWrongIsToldAtOnce) {
    Json json = training(
        {{{"name", "a"}, {"set", {{"/workload/buckt", 1}, {"/seed", -1}}}},
         {{"name", "b"}, {"set", {{"/exact", 3}}}}});
    EXPECT_EQ(problems(json).size(), 3U);
    json["functional"] = "yes";  // a problem of the experiment itself
    const std::vector<std::string> found = problems(json);
    ASSERT_EQ(found.size(), 4U);
    EXPECT_TRUE(found[0].starts_with("/functional: ")) << found[0];
    EXPECT_TRUE(found[3].starts_with("/scenarios/1/set/~1exact: ")) << found[3];
}

TEST(ScenarioSet, AnOverrideOfAnEntryIsBlamedItself) {
    const Json json = training({{{"name", "a"}, {"set", {{"/workload/bucket", "1 MiB"}}}}});
    EXPECT_EQ(problems(json).size(), 0U);
    const std::vector<std::string> found =
        problems(json, {{"/scenarios/0/set/~1workload~1bucket", 51}});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0].starts_with("--set: /scenarios/0/set/~1workload~1bucket: is 51"))
        << found[0];
}

TEST(Partition, IsRefusedWhereItLeavesKernelsNothing) {
    const auto found = problems(training(
        {{{"name", "a"}, {"communication_sms", 131}},
         {{"name", "b"}, {"communication_sms", 132}},
         {{"name", "c"}, {"communication_sms", 100}, {"set", {{"/system/gpu/sms", 100}}}}}));
    ASSERT_EQ(found.size(), 2U);
    EXPECT_TRUE(found[0].starts_with("/scenarios/1/communication_sms: is 132, which leaves"));
    EXPECT_TRUE(found[1].starts_with("/scenarios/2/communication_sms: is 100, which leaves"));
    for (const char* name : {"communication_sms", "max_ctas"}) {
        const auto zero = problems(training({{{"name", "a"}, {name, 0}}}));
        ASSERT_EQ(zero.size(), 1U);
        EXPECT_NE(zero[0].find("is 0; expected a value from 1"), std::string::npos) << zero[0];
    }
}

TEST(Partition, LimitsTheBlocksToItsSms) {
    const auto most = [](std::optional<std::uint32_t> ctas, std::optional<std::uint32_t> sms) {
        ScenarioParams scenario;
        scenario.max_ctas = ctas;
        scenario.communication_sms = sms;
        return scenario.policies().most_blocks;
    };
    EXPECT_EQ(most({}, {}), 0U);
    EXPECT_EQ(most(8, {}), 8U);
    EXPECT_EQ(most({}, 4), 4U);
    EXPECT_EQ(most(8, 4), 4U);
    EXPECT_EQ(most(2, 4), 2U);
}

ExperimentResult run(const Json& scenarios) {
    RunOptions options;
    options.in_process = true;
    return run_experiment(load(training(scenarios)), options);
}

TEST(ScenarioSet, RunsAsAnExperimentOfItsOwn) {
    const Json two = {{"/workload/ranks", 2}, {"/workload/batch", 8}};
    const ExperimentResult result = run(
        {{{"name", "serial"}, {"overlap", false}},
         {{"name", "ring"}, {"all_reduce", {{"algorithm", "ring"}}}},
         {{"name", "two"}, {"all_reduce", {{"algorithm", "ring"}}}, {"set", two}}});
    Json json = training(
        {{{"name", "serial"}, {"overlap", false}},
         {{"name", "two"}, {"all_reduce", {{"algorithm", "ring"}}}}});
    json["workload"]["ranks"] = 2;
    json["workload"]["batch"] = 8;
    RunOptions options;
    options.in_process = true;
    const ExperimentResult own = run_experiment(load(json), options);
    const ScenarioResult& s = result.scenarios[2];
    EXPECT_EQ(s.iteration_us, own.scenarios[1].iteration_us);
    // The slowdown is relative to the same machine and workload without overlap.
    EXPECT_EQ(s.backward_slowdown, own.scenarios[1].backward_slowdown);
    EXPECT_EQ(s.set.at("/workload/ranks"), "2");
    ASSERT_TRUE(s.workload);
    EXPECT_EQ(s.workload->ranks, 2U);
    EXPECT_EQ(result.workload.ranks, 4U);
    EXPECT_FALSE(result.scenarios[1].workload);
    // Scenario "two" does not affect the others.
    const ExperimentResult without = run(
        {{{"name", "serial"}, {"overlap", false}},
         {{"name", "ring"}, {"all_reduce", {{"algorithm", "ring"}}}}});
    EXPECT_EQ(without.scenarios[1].iteration_us, result.scenarios[1].iteration_us);
    EXPECT_EQ(without.scenarios[1].speedup, result.scenarios[1].speedup);
}

TEST(SpeedUp, IsOverTheFirstScenarioWithoutOverlap) {
    const Json ring = {{"name", "ring"}, {"all_reduce", {{"algorithm", "ring"}}}};
    const ExperimentResult result = run(
        {ring,
         {{"name", "serial"}, {"overlap", false}, {"all_reduce", {{"algorithm", "ring"}}}},
         {{"name", "slow"}, {"overlap", false}, {"set", {{"/workload/batch", 16}}}}});
    const auto& s = result.scenarios;
    EXPECT_EQ(s[1].speedup, 1.0);
    EXPECT_EQ(s[0].speedup, s[1].iteration_us / s[0].iteration_us);
    // Speed is samples a second: four times the batch in less than four times the time.
    EXPECT_DOUBLE_EQ(*s[2].speedup, 4 * s[1].iteration_us / s[2].iteration_us);
    EXPECT_GT(*s[2].speedup, 1.0);
    EXPECT_GT(s[2].iteration_us, s[1].iteration_us);
    EXPECT_EQ(s[2].backward_slowdown, 0.0);
    // Without such a scenario, the speed-up is relative to the hidden run that serves as reference
    // for slowdowns.
    EXPECT_EQ(run(Json::array({ring})).scenarios[0].speedup, s[0].speedup);
}

TEST(SpeedUp, ACollectiveAloneHasNone) {
    Json json = training({{{"name", "ring"}, {"overlap", false}}});
    json["workload"] = {{"type", "collective"}, {"size", "64 KiB"}};
    RunOptions options;
    options.in_process = true;
    EXPECT_FALSE(run_experiment(load(json), options).scenarios[0].speedup);
}

TEST(Partition, SlowsKernelsAlsoWhereNothingOverlaps) {
    const ExperimentResult result = run(
        {{{"name", "serial"}, {"overlap", false}},
         {{"name", "apart"}, {"overlap", false}, {"communication_sms", 32}},
         {{"name", "few"}, {"max_ctas", 1}},
         {{"name", "many"}}});
    const auto& s = result.scenarios;
    EXPECT_GT(s[1].backward_us, s[0].backward_us * 1.05);
    for (const CollectiveResult& c : s[2].collectives)
        EXPECT_EQ(c.channels, 1U);
    EXPECT_GT(s[2].collectives.front().time_us, s[3].collectives.front().time_us);
}

}  // namespace
}  // namespace switchfold::scenario_set_test
