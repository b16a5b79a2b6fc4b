// SPDX-License-Identifier: Apache-2.0
#include "sim/results/whole_runs.h"

#include "core/json.h"
#include "sim/config/learning_params.h"
#include "sim/config/load.h"
#include "sim/output/figures.h"
#include "sim/output/result_reader.h"
#include "sim/output/writers.h"
#include "sim/runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace switchfold::whole_runs_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/test.json";

ExperimentResult result_of(const std::string& plan, const std::string& more) {
    const std::string text = fmt::format(
        R"({{
          "name": "test", "system": "../systems/hgx_h100.json", "causes": false,
          "workload": {{
            "type": "training", "plan": {{{}}},
            "network": {{"type": "gpt", "layers": 4, "hidden": 512, "heads": 8, "sequence": 128, "vocabulary": 512}}
          }},
          {}
        }})",
        plan, more);
    RunOptions options;
    options.in_process = true;
    return run_experiment(load_experiment(Json::parse(text), kFile, {}), options);
}

const std::string kSmall =
    R"("network": {"depth": 4, "width": 8}, "data": {"samples": 64, "held_out": 16},
       "steps": 64, "evaluate_every": 16, "seeds": 2)";

/// Replicas that average every 1, 4 and 16 steps.
ExperimentResult averaged() {
    return result_of(
        R"("data": 2, "micro_batch": 4, "overlap_gradients": false)",
        R"("learning": {"averaging": {"type": "periodic", "every": 1}, )" + kSmall + R"(},
           "scenarios": [
             {"name": "every1"},
             {"name": "every4", "set": {"/learning/averaging/every": 4}},
             {"name": "every16", "set": {"/learning/averaging/every": 16}}])");
}

/// Ways in which a member joins.
ExperimentResult joined() {
    return result_of(
        R"("data": 2, "micro_batch": 4)",
        R"("run": {"costs": "../costs/default.json", "time": "60 s",
                   "changes": [{"at": "10 s", "add": 2}]},
           "scenarios": [
             {"name": "restart", "set": {"/run/method": "restart"}},
             {"name": "reconnect", "set": {"/run/method": "reconnect"}},
             {"name": "none", "set": {"/run/changes": []}}])");
}

/// Members of the small network, and unequal shares.
ExperimentResult members() {
    return result_of(
        R"("data": 4, "micro_batch": 4)", R"("learning": {"batch": 16, )" + kSmall + R"(},
           "scenarios": [
             {"name": "equal"},
             {"name": "shares", "set": {"/learning/shares": [4, 2, 1, 1]}},
             {"name": "eight", "set": {"/learning/members": [{"at": 8, "add": 4}]}}])");
}

/// The first table that is printed: its header, and a line a scenario.
std::vector<std::string> first_table(const ExperimentResult& result) {
    std::istringstream lines(to_table(result));
    std::vector<std::string> rows;
    for (std::string line; std::getline(lines, line) && rows.size() <= result.scenarios.size();)
        if (!rows.empty() || line.rfind("run ", 0) == 0 || line.rfind("scenario ", 0) == 0)
            rows.push_back(line);
    return rows;
}

/// Its lines without the scenarios' names.
std::set<std::string> different_rows(const ExperimentResult& result) {
    std::set<std::string> rows;
    const std::vector<std::string> table = first_table(result);
    for (std::size_t i = 0; i < result.scenarios.size() && i + 1 < table.size(); ++i) {
        const std::string row = table[i + 1].substr(result.scenarios[i].name.size());
        rows.insert(row.substr(row.find_first_not_of(' ')));
    }
    return rows;
}

TEST(FirstTable, ScenariosThatDifferHaveLinesThatDiffer) {
    for (const ExperimentResult& result : {averaged(), joined(), members()}) {
        EXPECT_EQ(different_rows(result).size(), result.scenarios.size()) << to_table(result);
        EXPECT_EQ(first_table(result).front().rfind("run ", 0), 0U) << to_table(result);
    }
}

TEST(FirstTable, HasTheNumbersThatResultsExport) {
    for (const ExperimentResult& result : {averaged(), joined(), members()}) {
        const Json json = Json::parse(to_result_json(result));
        std::vector<const ScenarioFigures*> scenarios;
        for (const ScenarioResult& s : result.scenarios)
            scenarios.push_back(&s);
        const std::vector<const Figure*> figures = run_figures(scenarios);
        ASSERT_FALSE(figures.empty());
        for (const Figure* figure : figures) {
            for (std::size_t i = 0; i < scenarios.size(); ++i) {
                const std::optional<double> shown = figure->of(*scenarios[i]);
                const Json& exported = json["scenarios"][i][std::string(figure->key)];
                ASSERT_EQ(shown.has_value(), !exported.is_null()) << figure->key;
                if (shown) {
                    EXPECT_NEAR(exported.get<double>(), *shown, 1e-3 + 1e-6 * *shown)
                        << figure->key;
                }
            }
        }
    }
}

TEST(Averages, RarerOnesTakeShorterStepsAndLessCommunication) {
    const ExperimentResult result = averaged();
    const ScenarioResult& often = result.scenarios[0];
    for (const ScenarioResult& s : result.scenarios) {
        ASSERT_TRUE(s.learning);
        EXPECT_DOUBLE_EQ(s.iteration_us, s.learning->step_us) << s.name;
        // Samples of a step do not change, and neither do its kernels.
        EXPECT_NEAR(
            *s.samples_per_s * s.iteration_us, *often.samples_per_s * often.iteration_us, 1);
        EXPECT_NEAR(*s.speedup * s.iteration_us, *often.speedup * often.iteration_us, 1e-6);
        EXPECT_DOUBLE_EQ(s.backward_us, often.backward_us);
        EXPECT_NEAR(
            s.iteration_us - s.exposed_communication_us,
            often.iteration_us - often.exposed_communication_us, 1e-6 * often.iteration_us);
    }
    EXPECT_LT(result.scenarios[1].exposed_communication_us, often.exposed_communication_us / 3);
    EXPECT_LT(result.scenarios[2].iteration_us, result.scenarios[1].iteration_us);
}

TEST(Runs, FiguresAreThoseOfTheWholeRun) {
    const ExperimentResult result = joined();
    for (const ScenarioResult& s : result.scenarios) {
        ASSERT_TRUE(s.changes);
        EXPECT_DOUBLE_EQ(*s.run_us, s.changes->end_s * 1e6);
        EXPECT_DOUBLE_EQ(*s.samples_per_s, s.changes->samples_per_s);
        EXPECT_DOUBLE_EQ(*s.run_paused_us, s.changes->paused_s * 1e6);
        EXPECT_FALSE(s.speedup) << "a step without overlap is no run";
    }
    EXPECT_DOUBLE_EQ(*result.scenarios[2].run_members, 2);
    EXPECT_GT(*result.scenarios[1].run_members, 3);
    EXPECT_LT(*result.scenarios[0].samples_per_s, *result.scenarios[1].samples_per_s);
    // A run without changes has the pace of its only step, whose arithmetic is the same.
    const ScenarioResult& none = result.scenarios[2];
    EXPECT_NEAR(*none.samples_per_s, 8 / (none.iteration_us * 1e-6), 1e-3 * *none.samples_per_s);
}

TEST(Runs, SpeedUpsAreAgainstARunWithoutOverlap) {
    const ExperimentResult result = result_of(
        R"("data": 2, "micro_batch": 4)",
        R"("run": {"costs": "../costs/default.json", "time": "60 s",
                   "changes": [{"at": "10 s", "add": 2}]},
           "scenarios": [{"name": "serial", "overlap": false}, {"name": "overlapped"}])");
    const ScenarioResult& overlapped = result.scenarios[1];
    EXPECT_DOUBLE_EQ(*result.scenarios[0].speedup, 1);
    EXPECT_DOUBLE_EQ(
        *overlapped.speedup, *overlapped.samples_per_s / *result.scenarios[0].samples_per_s);
}

TEST(Members, MeanAndLargestShare) {
    const ExperimentResult result = members();
    EXPECT_DOUBLE_EQ(*result.scenarios[0].run_members, 4);
    EXPECT_DOUBLE_EQ(*result.scenarios[0].largest_share, 0.25);
    EXPECT_DOUBLE_EQ(*result.scenarios[1].largest_share, 0.5);
    EXPECT_GT(*result.scenarios[2].run_members, 7);
    EXPECT_LT(*result.scenarios[2].run_members, 8);
}

}  // namespace
}  // namespace switchfold::whole_runs_test
