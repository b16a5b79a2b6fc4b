// SPDX-License-Identifier: Apache-2.0
#include "sim/config/load.h"

#include "core/error.h"
#include "sim/config/training_params.h"
#include "sim/kinds/collective/collective_params.h"
#include "sim/kinds/trace/trace_params.h"

#include <gtest/gtest.h>

#include <fstream>

#include <unistd.h>

namespace switchfold::load_test {
namespace {

constexpr const char* kSystem = SWITCHFOLD_SOURCE_DIR "/configs/systems/hgx_h100.json";

Experiment all_reduce() {
    Experiment experiment;
    experiment.name = "test";
    experiment.system.value = load_system(kSystem, {});
    experiment.workload = CollectiveWorkloadParams{};
    return experiment;
}

std::vector<std::string> names(const LoadedExperiment& loaded) {
    std::vector<std::string> names;
    for (const ScenarioParams& scenario : loaded.experiment.scenarios)
        names.push_back(scenario.name);
    return names;
}

/// Problems as "/pointer: message".
std::vector<std::string> problems_of(Experiment experiment, const std::filesystem::path& file) {
    std::vector<std::string> texts;
    try {
        static_cast<void>(complete_experiment(std::move(experiment), file));
    } catch (const ConfigError& error) {
        for (const Problem& problem : error.problems())
            texts.push_back(problem.pointer + ": " + problem.message);
    }
    return texts;
}

class CompleteExperiment : public ::testing::Test {
protected:
    CompleteExperiment() { std::filesystem::create_directories(folder_ / "traces"); }
    ~CompleteExperiment() override { std::filesystem::remove_all(folder_); }
    CompleteExperiment(const CompleteExperiment&) = delete;
    CompleteExperiment& operator=(const CompleteExperiment&) = delete;
    CompleteExperiment(CompleteExperiment&&) = delete;
    CompleteExperiment& operator=(CompleteExperiment&&) = delete;

    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / fmt::format("switchfold_load_{}", getpid());
    std::filesystem::path file_ = folder_ / "experiment.json";
};

TEST_F(CompleteExperiment, DefaultScenariosFollowTheWorkload) {
    const LoadedExperiment collective = complete_experiment(all_reduce(), file_);
    EXPECT_TRUE(collective.default_scenarios);
    EXPECT_EQ(names(collective), (std::vector<std::string>{"ring", "in_switch"}));
    EXPECT_FALSE(collective.experiment.scenarios[1].all_reduce.registered);

    Experiment across = all_reduce();
    across.system.value =
        load_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/hgx_h200_ndr.json", {});
    EXPECT_EQ(
        names(complete_experiment(across, file_)),
        (std::vector<std::string>{"ring", "in_switch", "in_switch_tree", "collnet"}));

    Experiment gather = all_reduce();
    gather.workload->as<CollectiveWorkloadParams>()->collective = CollectiveKind::kAllGather;
    EXPECT_EQ(names(complete_experiment(gather, file_)), (std::vector<std::string>{"ring"}));

    Experiment training = all_reduce();
    training.workload = TrainingWorkloadParams{};
    const LoadedExperiment trained = complete_experiment(training, file_);
    EXPECT_EQ(names(trained), (std::vector<std::string>{"serial", "ring", "in_switch"}));
    EXPECT_FALSE(trained.experiment.scenarios[0].overlap);
    EXPECT_TRUE(trained.experiment.scenarios[1].overlap);
    EXPECT_TRUE(trained.experiment.scenarios[2].all_reduce.registered);
}

TEST_F(CompleteExperiment, WrittenScenariosStay) {
    Experiment experiment = all_reduce();
    experiment.scenarios = {{"mine", true, ring_policy()}};
    const LoadedExperiment loaded = complete_experiment(experiment, file_);
    EXPECT_FALSE(loaded.default_scenarios);
    EXPECT_EQ(names(loaded), (std::vector<std::string>{"mine"}));
}

TEST_F(CompleteExperiment, ScenariosThatAreLeftOutAreGoneFromTheConfigurationToo) {
    LoadedExperiment loaded = complete_experiment(all_reduce(), file_);
    const std::string whole = loaded.digest;
    leave_out(loaded, {"in_switch"});
    EXPECT_EQ(names(loaded), (std::vector<std::string>{"ring"}));
    EXPECT_NE(loaded.digest, whole);
    const Json json = Json::parse(loaded.effective_config);
    ASSERT_EQ(json["scenarios"].size(), 1U);
    EXPECT_EQ(json["scenarios"][0]["name"], "ring");
    // The digest is the same as if the left-out scenario had never been written.
    Experiment without = all_reduce();
    without.scenarios = loaded.experiment.scenarios;
    EXPECT_EQ(complete_experiment(without, file_).digest, loaded.digest);
}

TEST_F(CompleteExperiment, TracePathsAreRelativeToTheExperiment) {
    std::ofstream(folder_ / "traces/rank0.json") << "{}";
    Experiment experiment = all_reduce();
    TraceWorkloadParams trace;
    trace.files = {"traces/../traces/rank0.json"};
    experiment.workload = trace;
    const LoadedExperiment loaded = complete_experiment(experiment, file_);
    // The path stays as written: the digest must not depend on the folder's location.
    EXPECT_EQ(
        loaded.experiment.workload->as<TraceWorkloadParams>()->files.at(0),
        "traces/../traces/rank0.json");
    EXPECT_EQ(loaded.effective_config.find(folder_.string()), std::string::npos);
}

TEST_F(CompleteExperiment, AllProblemsAreToldAtOnceWithTheirPointers) {
    Experiment experiment = all_reduce();
    TraceWorkloadParams trace;
    trace.files = {"traces/none.json"};
    experiment.workload = trace;
    experiment.scenarios = {{"a", true, ring_policy()}, {"a", false, ring_policy()}};
    const std::vector<std::string> problems = problems_of(experiment, file_);
    ASSERT_EQ(problems.size(), 2U);
    EXPECT_EQ(problems[0], "/scenarios/1/name: \"a\" is given twice; expected each name once");
    EXPECT_NE(problems[1].find("/workload/files/0: names "), std::string::npos);
    EXPECT_NE(problems[1].find((folder_ / "traces/none.json").string()), std::string::npos);
    trace.files.clear();
    experiment.workload = trace;
    experiment.scenarios.clear();
    EXPECT_EQ(
        problems_of(experiment, file_),
        (std::vector<std::string>{"/workload/files: is empty; expected at least one trace"}));
}

}  // namespace
}  // namespace switchfold::load_test
