// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/plan.h"

#include "core/tests/temporary_folder.h"
#include "sim/kinds/collective/collective_params.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace switchfold::plan_test {
namespace {

namespace fs = std::filesystem;

/// A sweep over a small experiment; each test modifies it.
class Plan : public ::testing::Test {
protected:
    void SetUp() override {
        sweep_ = {
            {"name", "s"},
            {"experiment",
             {{"name", "e"},
              {"system", std::string(SWITCHFOLD_SOURCE_DIR) + "/configs/systems/hgx_h100.json"},
              {"workload", {{"type", "collective"}, {"size", "1 KiB"}}},
              {"scenarios", {{{"name", "x"}, {"all_reduce", {{"algorithm", "ring"}}}}}}}},
            {"axes", {size_axis(), algorithm_axis()}}};
    }

    static Json size_axis() {
        return {{"name", "size"}, {"pointer", "/workload/size"}, {"range", "1 KiB..4 KiB x2"}};
    }
    static Json algorithm_axis() {
        return {
            {"name", "algorithm"},
            {"pointer", "/scenarios/0/all_reduce/algorithm"},
            {"values", {"ring", "tree"}}};
    }
    SweepPlan plan() {
        std::ofstream(folder_ / "sweep.json") << sweep_;
        return plan_sweep(folder_ / "sweep.json");
    }
    /// The problems, one per line.
    std::string refused() {
        try {
            static_cast<void>(plan());
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "not refused";
    }
    void expect_refused(const std::string& pointer, const std::string& what) {
        const std::string text = refused();
        EXPECT_NE(text.find("sweep.json: " + pointer + ": "), std::string::npos) << text;
        EXPECT_NE(text.find(what), std::string::npos) << text;
    }

    TemporaryFolder holder_;
    fs::path folder_ = holder_.path();
    Json sweep_;
};

TEST_F(Plan, EveryCombinationIsAPointTheLastAxisFastest) {
    const SweepPlan p = plan();
    ASSERT_EQ(p.points.size(), 6U);
    EXPECT_EQ(name_of(p, p.points[0]), "size=1 KiB, algorithm=ring");
    EXPECT_EQ(name_of(p, p.points[1]), "size=1 KiB, algorithm=tree");
    EXPECT_EQ(name_of(p, p.points[5]), "size=4 KiB, algorithm=tree");
    std::set<std::string> digests;
    for (const SweepPoint& point : p.points)
        digests.insert(point.digest);
    EXPECT_EQ(digests.size(), 6U);
}

TEST_F(Plan, APointIsTheExperimentThatSetWouldMake) {
    const SweepPlan p = plan();
    const LoadedExperiment loaded = load_point(p, p.points[3]);
    const auto& workload = *loaded.experiment.workload->as<CollectiveWorkloadParams>();
    EXPECT_EQ(workload.size, kibibytes(2));
    EXPECT_EQ(loaded.experiment.scenarios[0].all_reduce.algorithm, Algorithm::kTree);
    EXPECT_EQ(loaded.digest, p.points[3].digest);
}

TEST_F(Plan, ZippedParametersChangeTogether) {
    sweep_["axes"] = Json::array({size_axis()});
    sweep_["axes"][0]["zip"] = {{{"pointer", "/workload/ranks"}, {"values", {2, 4, 8}}}};
    const SweepPlan p = plan();
    ASSERT_EQ(p.points.size(), 3U);
    const LoadedExperiment loaded = load_point(p, p.points[1]);
    const auto& workload = *loaded.experiment.workload->as<CollectiveWorkloadParams>();
    EXPECT_EQ(workload.size, kibibytes(2));
    EXPECT_EQ(workload.ranks, 4U);
    sweep_["axes"][0]["zip"][0]["values"] = {2, 4};
    expect_refused("/axes/0/zip/0", "has 2 values beside 3");
}

TEST_F(Plan, FiltersTakePointsAway) {
    sweep_["only"] = {{{"size", "> 1 KiB"}}};
    sweep_["except"] = {{{"algorithm", "tree"}, {"size", {"2 KiB", "4 KiB"}}}};
    const SweepPlan p = plan();
    ASSERT_EQ(p.points.size(), 2U);
    EXPECT_EQ(name_of(p, p.points[0]), "size=2 KiB, algorithm=ring");
    EXPECT_EQ(name_of(p, p.points[1]), "size=4 KiB, algorithm=ring");
}

TEST_F(Plan, FiltersThatCannotFitAreRefused) {
    sweep_["only"] = {{{"sise", "1 KiB"}}};
    expect_refused("/only/0/sise", "did you mean \"size\"?");
    sweep_["only"] = {{{"algorithm", Json::array({"ring", "rign"})}}};
    expect_refused("/only/0/algorithm", "did you mean \"ring\"?");
    sweep_["only"] = {{{"algorithm", "< 8"}}};
    expect_refused("/only/0/algorithm", "cannot be compared");
    sweep_["only"] = {{{"size", "< 1 KiB"}}};
    expect_refused("/axes", "no point");
}

TEST_F(Plan, RepeatsDifferInTheirSeed) {
    sweep_["repeats"] = 3;
    const SweepPlan p = plan();
    ASSERT_EQ(p.points.size(), 18U);
    EXPECT_EQ(load_point(p, p.points[2]).experiment.seed, 3U);
}

TEST_F(Plan, FilesAreNamedAsTheExperimentNamesThem) {
    fs::create_directory(folder_ / "systems");
    const std::string machine =
        std::string(SWITCHFOLD_SOURCE_DIR) + "/configs/systems/hgx_h100.json";
    for (const char* name : {"b.json", "a.json", "c.txt"})
        std::ofstream(folder_ / "systems" / name) << Json{{"$base", machine}};
    sweep_["axes"] = {{{"name", "system"}, {"pointer", "/system"}, {"files", "systems/*.json"}}};
    const SweepPlan p = plan();
    ASSERT_EQ(p.points.size(), 2U);
    EXPECT_EQ(p.axes[0].values[0].values[0], "systems/a.json");
    EXPECT_EQ(p.axes[0].values[0].label, "a");
    EXPECT_EQ(p.points[0].digest, p.points[1].digest);  // both files describe the same machine
    sweep_["axes"][0]["files"] = "systems/*.yaml";
    expect_refused("/axes/0/files", "no file matches");
}

TEST_F(Plan, AWholeFileAndAParameterInItCanBothVary) {
    sweep_["axes"] = {
        {{"name", "latency"},
         {"pointer", "/system/collectives/launch_latency"},
         {"values", {"1 us", "2 us"}}},
        {{"name", "system"},
         {"pointer", "/system"},
         {"values",
          {std::string(SWITCHFOLD_SOURCE_DIR) + "/configs/systems/hgx_h100.json",
           std::string(SWITCHFOLD_SOURCE_DIR) + "/configs/systems/hgx_h200.json"}}}};
    const SweepPlan p = plan();
    ASSERT_EQ(p.points.size(), 4U);
    const LoadedExperiment loaded = load_point(p, p.points[3]);
    EXPECT_EQ(loaded.experiment.system->collectives->launch_latency, microseconds(2));
    EXPECT_EQ(loaded.experiment.system->name, "hgx_h200");
}

TEST_F(Plan, WhatAScenarioSetsCanVary) {
    sweep_["experiment"]["scenarios"].push_back(
        {{"name", "y"}, {"set", {{"/workload/size", "8 KiB"}}}});
    sweep_["axes"] = {
        {{"name", "size"},
         {"pointer", "/scenarios/1/set/~1workload~1size"},
         {"values", {"16 KiB", "32 KiB"}}}};
    const SweepPlan planned = plan();
    ASSERT_EQ(planned.points.size(), 2U);
    EXPECT_NE(planned.points[0].digest, planned.points[1].digest);
    const LoadedExperiment loaded = load_point(planned, planned.points[1]);
    EXPECT_EQ(loaded.of(0).workload->as<CollectiveWorkloadParams>()->size, kibibytes(1));
    EXPECT_EQ(loaded.of(1).workload->as<CollectiveWorkloadParams>()->size, kibibytes(32));
    sweep_["axes"][0]["values"] = {"16 KiB", 5};
    expect_refused("/axes/0", "is 5; expected a string with a unit");
    sweep_["axes"][0]["values"] = {"16 KiB", "3 B"};
    expect_refused(
        "/experiment/scenarios/1/set/~1workload~1size", "is not a whole number of elements");
}

TEST_F(Plan, BadSweepsAreRefusedBeforeAnythingRuns) {
    sweep_["axes"][0]["pointer"] = "/workload/sise";
    expect_refused("/axes/0", "did you mean \"size\"?");
    SetUp();
    sweep_["axes"][0].erase("range");
    sweep_["axes"][0]["values"] = Json::array();
    expect_refused("/axes/0", "has no values");
    sweep_["axes"][0]["values"] = {"1 KiB", 7};
    expect_refused("/axes/0", "/workload/size = 7: is 7; expected a string with a unit");
    sweep_["axes"][0]["values"] = {"1 KiB", "1 B"};
    expect_refused("/experiment/workload/size", "whole number of elements");
    sweep_["axes"][0]["values"] = {"1 KiB", "1 KiB"};
    expect_refused("/axes/0", "calls two values");
    SetUp();
    for (const char* name : {"a", "b", "c"})
        sweep_["axes"].push_back(
            {{"name", name},
             {"pointer", fmt::format("/system/{}", name)},
             {"range", "1..1000 +1"}});
    expect_refused("/axes", "make 6e+09 points");
    SetUp();
    sweep_["axes"] = Json::array();
    expect_refused("/axes", "is empty");
    SetUp();
    sweep_["axes"][1]["values"] = {"in_switch"};
    sweep_["experiment"]["system"] =
        std::string(SWITCHFOLD_SOURCE_DIR) + "/configs/systems/dgx_a100.json";
    expect_refused("/experiment/scenarios/0/all_reduce/algorithm", "cannot do");
    SetUp();
    sweep_["repeats"] = 2;
    sweep_["axes"][0]["pointer"] = "/seed";
    expect_refused("/repeats", "varies already");
    SetUp();
    sweep_["axes"][0]["name"] = "time_us";
    expect_refused("/axes/0/name", "column of every sweep's results");
    SetUp();
    sweep_["experiment"] = "nowhere.json";
    expect_refused("/experiment", "which does not exist");
}

TEST_F(Plan, AMistakeOfManyPointsIsToldOnce) {
    sweep_["experiment"]["scenarios"][0]["ovrelap"] = true;
    const std::string text = refused();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 0) << text;
    EXPECT_NE(text.find("/experiment/scenarios/0/ovrelap"), std::string::npos) << text;
}

}  // namespace
}  // namespace switchfold::plan_test
