// SPDX-License-Identifier: Apache-2.0
// Gradient exchange by copies, and replicas that average periodically, run as experiments.
#include "sim/core/error.h"
#include "sim/core/json.h"
#include "sim/run/config/load.h"
#include "sim/run/runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace switchfold::exchange_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/test.json";

ExperimentResult
run(const std::string& system, const std::string& workload, const std::string& scenarios) {
    const std::string text = fmt::format(
        R"({{"name": "test", "system": "../systems/{}.json", "causes": false, "workload": {},
             "scenarios": [{}]}})",
        system,
        workload,
        scenarios);
    RunOptions options;
    options.in_process = true;
    return run_experiment(load_experiment(Json::parse(text), kFile, {}), options);
}

std::string
problem_of(const std::string& system, const std::string& workload, const std::string& scenarios) {
    try {
        run(system, workload, scenarios);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

constexpr const char* kAllReduce = R"({"type": "collective", "size": "16 MiB"})";

std::string training(const std::string& plan) {
    return fmt::format(
        R"({{"type": "training", "network": "fc_784_2048x4_10", "precision": "single",
             "plan": {{"micro_batch": 64, "optimizer": "momentum", {}}}}})",
        plan);
}

const ScenarioResult& named(const ExperimentResult& result, const std::string& name) {
    return *std::find_if(result.scenarios.begin(), result.scenarios.end(), [&](const auto& s) {
        return s.name == name;
    });
}

TEST(Exchange, OwnersTreesAndHostStandInTheOrderOfTheirBusiestLink) {
    const ExperimentResult result =
        run("pcie3_two_groups",
            kAllReduce,
            R"({"name": "host", "all_reduce": {"algorithm": "host"}},
           {"name": "owners", "all_reduce": {"algorithm": "owners"}},
           {"name": "tree", "all_reduce": {"algorithm": "topology_tree"}})");
    const auto time = [&](const char* name) {
        return named(result, name).collectives.front().time_us;
    };
    EXPECT_GT(time("host"), time("owners"));
    EXPECT_GT(time("owners"), time("tree"));
    EXPECT_EQ(named(result, "owners").collectives.front().algorithm, "owners");
}

TEST(Exchange, SaysWhatItCannotDo) {
    EXPECT_NE(
        problem_of(
            "dgx_h100_ndr", kAllReduce, R"({"name": "a", "all_reduce": {"algorithm": "owners"}})")
            .find("/scenarios/0/all_reduce/algorithm: is owners, which dgx_h100_ndr cannot do: the "
                  "group spans several machines"),
        std::string::npos);
    EXPECT_NE(
        problem_of(
            "hgx_h100",
            kAllReduce,
            R"({"name": "a", "all_reduce": {"algorithm": "ring", "copies": {"owners": 1}}})")
            .find("only owners, topology_tree and host exchange by copies"),
        std::string::npos);
    EXPECT_NE(
        problem_of(
            "hgx_h100",
            kAllReduce,
            R"({"name": "a", "all_reduce": {"algorithm": "host", "protocol": "ll"}})")
            .find("is one of thread blocks, and copies have none"),
        std::string::npos);
}

TEST(Average, PeriodsDivideWhatAnExchangeTakes) {
    // x, the time that exchanges add to a step, falls as 1/H: H = 4 adds four times what H = 16
    // adds.
    const ExperimentResult result =
        run("pcie3_two_groups",
            training(R"("data": 2, "average": {"every": 4})"),
            R"({"name": "alone", "set": {"/workload/plan/average/every": 2048}},
           {"name": "4", "all_reduce": {"algorithm": "owners"}},
           {"name": "16", "all_reduce": {"algorithm": "owners"},
            "set": {"/workload/plan/average/every": 16}},
           {"name": "beside", "all_reduce": {"algorithm": "owners"},
            "set": {"/workload/plan/average/every": 16, "/workload/plan/average/overlap": true}})");
    const double alone = named(result, "alone").iteration_us;
    const double at_4 = named(result, "4").iteration_us - alone;
    const double at_16 = named(result, "16").iteration_us - alone;
    EXPECT_GT(at_16, 0);
    EXPECT_NEAR(at_4 / at_16, 4, 0.2);
    EXPECT_LT(named(result, "beside").iteration_us, named(result, "16").iteration_us);
}

TEST(Average, KReplicasThatNeverMeetAreKTimesAsFast) {
    const auto pace = [](const std::string& plan) {
        return *run("pcie3_two_groups", training(plan), R"({"name": "a"})")
                    .scenarios.front()
                    .samples_per_s;
    };
    const double one = pace(R"("data": 1)");
    const double four = pace(R"("data": 4, "average": {"method": "one_shot", "every": 2048})");
    EXPECT_NEAR(four / one, 4, 0.04);
}

TEST(Average, RefusesPlansWhoseReplicasAreNotWhole) {
    const auto problem = [](const std::string& plan) {
        return problem_of("pcie3_two_groups", training(plan), R"({"name": "a"})");
    };
    EXPECT_NE(
        problem(R"("data": 1, "average": {})").find("/workload/plan/average: averages nothing"),
        std::string::npos);
    EXPECT_NE(
        problem(R"("data": 2, "pipeline": 2, "average": {})").find("replicas of one GPU each"),
        std::string::npos);
    EXPECT_NE(
        problem(R"("data": 2, "global_batch": 64, "average": {})").find("expected no global_batch"),
        std::string::npos);
    EXPECT_NE(problem(R"("data": 2, "average": {"evry": 2})").find("every"), std::string::npos);
}

}  // namespace
}  // namespace switchfold::exchange_test
