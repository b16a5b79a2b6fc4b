// SPDX-License-Identifier: Apache-2.0
#include "sim/runner.h"

#include "core/error.h"
#include "sim/config/plan_params.h"
#include "sim/config/training_params.h"
#include "sim/kinds/collective/collective_params.h"
#include "sim/output/writers.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include <unistd.h>
#include <zlib.h>

namespace switchfold::runner_test {
namespace {

class RunExperiment : public ::testing::Test {
protected:
    RunExperiment() { std::filesystem::remove_all(folder_); }
    ~RunExperiment() override { std::filesystem::remove_all(folder_); }
    RunExperiment(const RunExperiment&) = delete;
    RunExperiment& operator=(const RunExperiment&) = delete;
    RunExperiment(RunExperiment&&) = delete;
    RunExperiment& operator=(RunExperiment&&) = delete;

    /// A training step of two transformer blocks on two GPUs of an HGX H100.
    [[nodiscard]] Experiment training() const {
        Experiment experiment;
        experiment.name = "test";
        experiment.system.value =
            load_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/hgx_h100.json", {});
        TrainingWorkloadParams workload;
        TransformerParams shape;
        shape.blocks = 2;
        shape.hidden = 512;
        shape.sequence = 256;
        shape.vocabulary = 1000;
        workload.transformer = shape;
        workload.batch = 4;
        workload.ranks = 2;
        experiment.workload = workload;
        return experiment;
    }
    /// The same network on two pipeline stages.
    [[nodiscard]] Experiment pipeline() const {
        Experiment experiment = training();
        auto& workload = *experiment.workload->as<TrainingWorkloadParams>();
        workload.ranks = 0;
        PlanParams plan;
        plan.pipeline = 2;
        plan.accumulate = 2;
        workload.plan = plan;
        experiment.causes = false;
        experiment.scenarios = {{"pipeline", true, ring_policy()}};
        return experiment;
    }
    [[nodiscard]] Json timeline() const {
        gzFile file = gzopen((folder_ / "timeline.json.gz").c_str(), "rb");
        std::string text;
        std::array<char, 4096> part{};
        for (int n = 0; (n = gzread(file, part.data(), part.size())) > 0;)
            text.append(part.data(), static_cast<std::size_t>(n));
        gzclose(file);
        return Json::parse(text);
    }
    [[nodiscard]] ExperimentResult run(Experiment experiment, RunOptions options = {}) const {
        options.jobs = 2;
        return run_experiment(complete_experiment(std::move(experiment), file_), options);
    }
    [[nodiscard]] RunOptions into_folder() const {
        RunOptions options;
        options.out = folder_;
        return options;
    }
    [[nodiscard]] std::set<std::string> files() const {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(folder_))
            names.insert(entry.path().filename().string());
        return names;
    }
    [[nodiscard]] std::string content(const std::string& name) const {
        std::ifstream in(folder_ / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / fmt::format("switchfold_runner_{}", getpid());
    std::filesystem::path file_ = "experiment.json";
};

/// The result without its host part: it must not depend on the host.
std::string text_of(ExperimentResult result) {
    result.host = {};
    return to_result_json(result);
}

TEST_F(RunExperiment, TheFolderHoldsTheRunAndScenariosComeInTheirOrder) {
    const ExperimentResult result = run(training(), into_folder());
    EXPECT_EQ(
        files(), (std::set<std::string>{
                     "causes.csv", "communication.csv", "counters.csv", "effective-config.json",
                     "kernels.csv", "links.json", "memory.csv", "passes.csv", "result.json"}));
    EXPECT_EQ(content("result.json"), to_result_json(result));
    std::vector<std::string> scenarios;
    for (const ScenarioResult& scenario : result.scenarios)
        scenarios.push_back(scenario.name);
    EXPECT_EQ(scenarios, (std::vector<std::string>{"serial", "ring", "in_switch"}));
    // One row per kernel, grouped by scenario in their order, then by rank.
    std::ifstream rows(folder_ / "kernels.csv");
    std::string line;
    std::getline(rows, line);
    EXPECT_EQ(line + "\n", kernel_csv_header());
    std::vector<std::string> blocks;
    std::size_t count = 0;
    while (std::getline(rows, line)) {
        ++count;
        const std::string block = line.substr(0, line.find(',', line.find(',') + 1));
        if (blocks.empty() || blocks.back() != block)
            blocks.push_back(block);
    }
    EXPECT_EQ(
        blocks, (std::vector<std::string>{
                    "serial,0", "serial,1", "ring,0", "ring,1", "in_switch,0", "in_switch,1"}));
    EXPECT_EQ(count % 6, 0U);
}

TEST_F(RunExperiment, ForwardIsSlowedByAllGathersBesideItAndItsCausesAddUpAsBackwardsDo) {
    Experiment experiment = training();
    auto& workload = *experiment.workload->as<TrainingWorkloadParams>();
    workload.strategy = TrainingStrategy::kFullySharded;
    workload.transformer->hidden = 2048;
    experiment.scenarios = {{"serial", false, ring_policy()}, {"ring", true, ring_policy()}};
    const auto sum = [](const SlowdownByCause& causes) {
        double all = 0;
        for (const Cause& cause : kCauses)
            all += causes.*cause.member;
        return all;
    };
    const ExperimentResult result = run(experiment);
    const ScenarioResult& ring = result.scenarios.at(1);
    ASSERT_TRUE(ring.forward_slowdown && ring.forward_causes && ring.causes);
    EXPECT_GT(*ring.forward_slowdown, 0.005);
    EXPECT_GT(ring.forward_causes->sm, 0);
    EXPECT_NEAR(sum(*ring.forward_causes), *ring.forward_slowdown, 1e-9);
    EXPECT_NEAR(sum(*ring.causes), *ring.backward_slowdown, 1e-9);
    const ScenarioResult& serial = result.scenarios.at(0);
    EXPECT_NEAR(ring.forward_us / serial.forward_us - 1, *ring.forward_slowdown, 1e-9);
    EXPECT_NEAR(sum(serial.forward_causes.value()), 0, 1e-9);
    EXPECT_NE(to_table(result).find("forward pass"), std::string::npos);
}

TEST_F(RunExperiment, ATimelineBringsItsCounters) {
    RunOptions options = into_folder();
    options.timeline = true;
    static_cast<void>(run(training(), options));
    EXPECT_EQ(
        files(), (std::set<std::string>{
                     "causes.csv", "communication.csv", "counters.csv", "effective-config.json",
                     "kernels.csv", "links.json", "memory.csv", "passes.csv", "result.json",
                     "timeline.json.gz"}));
}

TEST_F(RunExperiment, PassesAreListedWhereThereAreSome) {
    RunOptions options = into_folder();
    options.timeline = true;
    static_cast<void>(run(pipeline(), options));
    EXPECT_TRUE(files().contains("passes.csv"));
    const std::string first = content("passes.csv");
    std::istringstream rows(first);
    std::string line;
    std::getline(rows, line);
    EXPECT_EQ(line + "\n", pass_csv_header());
    std::vector<std::string> passes;
    while (std::getline(rows, line)) {
        const auto comma = [&](std::size_t from) { return line.find(',', from) + 1; };
        passes.push_back(line.substr(0, comma(comma(comma(0))) - 1));
    }
    // Two stages with two micro-batches in 1F1B order. Scenarios without passes have no rows.
    EXPECT_EQ(
        passes, (std::vector<std::string>{
                    "pipeline,0,F0@0", "pipeline,0,F1@0", "pipeline,0,BW0@0", "pipeline,0,BW1@0",
                    "pipeline,0,U1@0", "pipeline,1,F0@1", "pipeline,1,BW0@1", "pipeline,1,F1@1",
                    "pipeline,1,BW1@1", "pipeline,1,U1@1"}));
    const Json trace = timeline();
    std::vector<std::string> shown;
    for (const Json& event : trace["traceEvents"])
        if (event["ph"] == "X" && event["cat"] == "user_annotation" && event["pid"] == 1 &&
            !event["name"].get<std::string>().starts_with("Profiler"))
            shown.push_back(event["name"]);
    EXPECT_EQ(shown, (std::vector<std::string>{"F0@1", "BW0@1", "F1@1", "BW1@1", "U1@1"}));
    static_cast<void>(run(pipeline(), into_folder()));
    EXPECT_EQ(content("passes.csv"), first);
    Experiment without = training();
    CollectiveWorkloadParams all_reduce;
    all_reduce.size = mebibytes(1);
    without.workload = all_reduce;
    static_cast<void>(run(without, into_folder()));
    EXPECT_FALSE(files().contains("passes.csv"));
}

TEST_F(RunExperiment, HereAndInWorkersComesTheSame) {
    RunOptions here;
    here.in_process = true;
    EXPECT_EQ(text_of(run(training(), here)), text_of(run(training())));
}

TEST_F(RunExperiment, WithoutAScenarioWithoutOverlapAHiddenOneIsTheMeasure) {
    const ExperimentResult all = run(training());
    Experiment alone = training();
    alone.scenarios = {{"only", true, ring_policy()}};
    const ExperimentResult one = run(alone);
    ASSERT_EQ(one.scenarios.size(), 1U);
    const ScenarioResult& only = one.scenarios[0];
    const ScenarioResult& ring = all.scenarios[1];
    EXPECT_EQ(only.backward_slowdown, ring.backward_slowdown);
    ASSERT_TRUE(only.backward_slowdown && only.causes);
    const SlowdownByCause& c = *only.causes;
    EXPECT_NEAR(
        c.sm + c.l2 + c.hbm + c.latency + c.completion + c.clock + c.other, *only.backward_slowdown,
        1e-12);
    EXPECT_EQ(all.scenarios[0].backward_slowdown, 0.0);
}

TEST_F(RunExperiment, OnAGpuThatWasNotMeasuredASlowdownIsARange) {
    const auto notes = [](const ExperimentResult& result) {
        return std::count_if(
            result.workload.notes.begin(), result.workload.notes.end(),
            [](const auto& note) { return note.starts_with("slowdowns are ranges"); });
    };
    Experiment experiment = training();
    const ExperimentResult h100 = run(experiment);
    const ScenarioResult& ring = h100.scenarios.at(1);
    ASSERT_TRUE(ring.backward_slowdown && ring.backward_slowdown_low);
    EXPECT_LT(*ring.backward_slowdown_low, *ring.backward_slowdown);
    EXPECT_FALSE(h100.scenarios.at(0).backward_slowdown_low);
    EXPECT_EQ(notes(h100), 1);
    // The lower end is the slowdown of a machine without the wait.
    experiment.system.value.gpu->completion_wait = Time();
    experiment.system.value.gpu->exchange_accesses = 0;
    const ExperimentResult never = run(experiment);
    EXPECT_FALSE(never.scenarios.at(1).backward_slowdown_low);
    EXPECT_NEAR(*never.scenarios.at(1).backward_slowdown, *ring.backward_slowdown_low, 1e-9);
    EXPECT_EQ(never.scenarios.at(1).causes->completion, 0);
    EXPECT_EQ(notes(never), 0);
    experiment = training();
    experiment.system.value.gpu->completion_measured = true;
    const ExperimentResult measured = run(experiment);
    EXPECT_FALSE(measured.scenarios.at(1).backward_slowdown_low);
    EXPECT_EQ(measured.scenarios.at(1).backward_slowdown, ring.backward_slowdown);
    EXPECT_EQ(notes(measured), 0);
}

TEST_F(RunExperiment, WithoutCausesTheirRunsAreSaved) {
    Experiment experiment = training();
    const ExperimentResult with = run(experiment);
    experiment.causes = false;
    const ExperimentResult without = run(experiment);
    EXPECT_TRUE(with.scenarios[1].causes);
    EXPECT_FALSE(without.scenarios[1].causes);
    EXPECT_EQ(with.scenarios[1].backward_us, without.scenarios[1].backward_us);
    EXPECT_LT(without.host.events, with.host.events);
}

TEST_F(RunExperiment, AScenarioThatFailsIsNamedAndNothingReadsAsWhole) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "result.json") << "{}";
    Experiment experiment = training();
    experiment.scenarios = {{"fine", false, ring_policy()}, {"late", true, ring_policy()}};
    experiment.limits.simulated_time = Time(1);
    try {
        static_cast<void>(run(experiment, into_folder()));
        FAIL() << "ended";
    } catch (const SimulationError& error) {
        const std::string text = error.what();
        EXPECT_TRUE(text.starts_with("fine: ") || text.starts_with("late: ")) << text;
        EXPECT_NE(text.find("/limits/simulated_time"), std::string::npos) << text;
    }
    // An earlier run's result is gone, too: it would pass for the result of this run.
    EXPECT_EQ(files(), std::set<std::string>{});
}

TEST_F(RunExperiment, AFolderThatCannotBeWrittenIsFoundOutFirst) {
    std::ofstream(folder_) << "a file";
    bool simulated = false;
    RunOptions options = into_folder();
    options.progress = [&](const WorkerProgress&) { simulated = true; };
    EXPECT_THROW(static_cast<void>(run(training(), options)), IoError);
    EXPECT_FALSE(simulated);
}

}  // namespace
}  // namespace switchfold::runner_test
