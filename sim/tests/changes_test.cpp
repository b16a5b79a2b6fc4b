// SPDX-License-Identifier: Apache-2.0
#include "sim/elastic/changes.h"

#include "core/error.h"
#include "core/json.h"
#include "sim/config/load.h"
#include "sim/runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace switchfold::elastic_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/test.json";

/// `sequence`: the small network's sequence length, which sets the duration of a step.
LoadedExperiment experiment(
    const std::string& run, const std::string& scenarios = R"({"name": "one"})",
    const std::string& plan = R"("data": 2, "micro_batch": 4)", std::uint32_t sequence = 512,
    std::uint32_t hidden = 512) {
    const std::string text = fmt::format(
        R"({{
          "name": "test", "system": "../systems/hgx_h100.json", "causes": false,
          "workload": {{
            "type": "training", "plan": {{{}}},
            "network": {{"type": "gpt", "layers": 4, "hidden": {}, "heads": 8, "sequence": {}, "vocabulary": 512}}
          }},
          "run": {{"costs": "../costs/default.json" {}}},
          "scenarios": [{}]
        }})",
        plan, hidden, sequence, run, scenarios);
    return load_experiment(Json::parse(text), kFile, {});
}

ExperimentResult result_of(const LoadedExperiment& loaded) {
    RunOptions options;
    options.in_process = true;
    return run_experiment(loaded, options);
}

std::string
error_of(const std::string& run, const std::string& plan = R"("data": 2, "micro_batch": 4)") {
    try {
        static_cast<void>(result_of(experiment(run, R"({"name": "one"})", plan)));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return {};
}

TEST(Runs, AJoinPausesLessThanReconnectingAndThatLessThanARestart) {
    const ExperimentResult result = result_of(experiment(
        R"(, "time": "60 s", "changes": [{"at": "10 s", "add": 2, "announced": false}])",
        R"({"name": "join", "set": {"/run/method": "join"}},
           {"name": "reconnect", "set": {"/run/method": "reconnect"}},
           {"name": "restart", "set": {"/run/method": "restart"}})"));
    std::vector<double> pauses;
    for (const ScenarioResult& s : result.scenarios) {
        ASSERT_TRUE(s.changes);
        const ChangeResult& change = s.changes->changes.at(0);
        pauses.push_back(change.pause_s);
        EXPECT_EQ(change.from, 2U);
        EXPECT_EQ(change.to, 4U);
        EXPECT_TRUE(change.reached);
        // The first stretch repeats the step that the scenario's own figures describe.
        EXPECT_NEAR(s.changes->stretches.front().step_us, s.iteration_us, 1e-3 * s.iteration_us);
    }
    EXPECT_LT(pauses[0], pauses[1]);
    EXPECT_LT(pauses[1], pauses[2]);
    const ChangeResult& join = result.scenarios[0].changes->changes.at(0);
    ASSERT_TRUE(join.joining);
    EXPECT_TRUE(join.joining->fits);
    // Only the switch to the new group, and the broadcast of the weights in it.
    const ChangePhaseResult& weights = join.phases.back();
    EXPECT_EQ(weights.name, "weights");
    EXPECT_DOUBLE_EQ(join.pause_s, 0.01 + weights.seconds);
    EXPECT_GT(join.joining->transfer_s, 0);
    EXPECT_LE(join.joining->transfer_s, join.joining->window_s);
    EXPECT_GE(join.slowdown_s, 0);
    // Three million parameters of 14 B each; a step takes a few milliseconds.
    EXPECT_GT(result.scenarios[0].changes->state_bytes, 14 * 3e6);
}

TEST(Runs, AStateThatDoesNotFitTheWindowPausesAndSaysSo) {
    const ExperimentResult result = result_of(experiment(
        R"(, "steps": 20000, "keep": "per_gpu", "method": "join", "changes": [{"at": 5000, "add": 1}])",
        R"({"name": "one"})", R"("data": 2, "micro_batch": 1)", 16, 2048));
    const ChangesResult& run = *result.scenarios[0].changes;
    const ChangeResult& join = run.changes.at(0);
    ASSERT_TRUE(join.joining);
    EXPECT_FALSE(join.joining->fits);
    EXPECT_NEAR(join.pause_s, join.joining->wait_s + 0.01 + join.phases.back().seconds, 1e-9);
    EXPECT_NEAR(join.joining->wait_s, join.joining->transfer_s - join.joining->window_s, 1e-9);
    ASSERT_FALSE(run.notes.empty());
    EXPECT_NE(run.notes[0].find("pauses training"), std::string::npos);
    EXPECT_EQ(run.steps, 20000U);
}

TEST(Runs, AJoinAndALeaveWaitForTheWeightsOverTheLinks) {
    const auto waits = [](const std::string& change, std::uint32_t hidden) {
        const ExperimentResult result = result_of(experiment(
            R"(, "steps": 2000, "changes": [{"at": 1000, )" + change + "}]", R"({"name": "one"})",
            R"("data": 4, "micro_batch": 4)", 64, hidden));
        const ChangesResult& run = *result.scenarios[0].changes;
        EXPECT_EQ(run.changes.at(0).phases.back().name, "weights");
        // 2 of 14 bytes of the state are weights; NVLink carries 450 GB/s, a ring half to all.
        const double bytes = run.state_bytes / 7;
        const double seconds = run.changes.at(0).phases.back().seconds;
        EXPECT_GT(seconds, bytes / 450e9);
        EXPECT_LT(seconds, bytes / 200e9 + 200e-6);
        return seconds;
    };
    for (const std::string change :
         {R"("add": 2, "method": "join")", R"("remove": 2, "method": "leave", "notice": "30 s")"}) {
        const double small = waits(change, 512);
        const double large = waits(change, 2048);  // 16 times as many weights
        EXPECT_GT(large, 3 * small);
    }
    const ExperimentResult swapped = result_of(experiment(
        R"(, "steps": 2000, "changes": [{"at": 1000, "remove": 2, "method": "leave", "notice": "30 s"}])",
        R"({"name": "one", "set": {"/run/costs/sync_weights": false}})",
        R"("data": 4, "micro_batch": 4)"));
    EXPECT_DOUBLE_EQ(swapped.scenarios[0].changes->changes.at(0).pause_s, 0.01);
}

TEST(Runs, TheGlobalBatchIsDividedAnewOrTheMembersKeepTheirs) {
    const ExperimentResult result = result_of(experiment(
        R"(, "steps": 20000, "method": "leave", "changes": [{"at": 100, "add": 1, "method": "join"}])",
        R"({"name": "global"}, {"name": "each", "set": {"/run/keep": "per_gpu"}})"));
    const auto samples = [&](std::size_t scenario) {
        const RunStretchResult& last = result.scenarios[scenario].changes->stretches.back();
        return last.samples_per_s * last.step_us * 1e-6;
    };
    EXPECT_NEAR(samples(0), 8, 1e-6);  // 3, 3 and 2 per member
    EXPECT_NEAR(samples(1), 12, 1e-6);
}

TEST(Runs, FailuresWithSparesKeepTheirSizeAndTheSameSeedItsBytes) {
    const std::string run =
        R"(, "time": "86400 s",
           "failures": {"per_gpu_day": 0.5, "repair": "7200 s", "spares": 2},
           "checkpoint": {"every": "3600 s", "asynchronous": true})";
    const ExperimentResult first = result_of(experiment(run));
    const ChangesResult& one = *first.scenarios[0].changes;
    EXPECT_GT(one.changes.size(), 1U);
    EXPECT_GT(one.checkpoints, 20U);
    EXPECT_EQ(one.stretches.back().members, 2U);
    EXPECT_NEAR(one.stretches.back().end_s, 86'400, 1e-6);
    EXPECT_GT(one.share_of_training, 0.9);
    EXPECT_EQ(
        one.gpu_seconds_lost, result_of(experiment(run)).scenarios[0].changes->gpu_seconds_lost);
}

/// A checkpoint step on a machine whose copies to the host travel over simulated links.
CheckpointStepResult checkpoint_step(const std::string& costs, const std::string& plan) {
    const ExperimentResult result = result_of(experiment(
        R"(, "time": "600 s", "checkpoint": {"every": "60 s", "asynchronous": true})",
        fmt::format(
            R"({{"name": "one", "set": {{"/system": "../systems/hgx_h100_host.json", {}}}}})",
            costs),
        plan));
    return result.scenarios[0].changes->checkpoint_steps.at(0);
}

TEST(Runs, ACopyToTheHostTakesTheLinksTimeAndSlowsItsStep) {
    const CheckpointStepResult one = checkpoint_step(
        R"("/run/costs/storage_write": "1 GB/s")", R"("data": 4, "micro_batch": 4)");
    // The state has 14 B for each of three million parameters and for the embeddings. It is copied
    // over PCIe 5 at 55.4 GB/s.
    const ExperimentResult result = result_of(
        experiment(R"(, "time": "600 s", "checkpoint": {"every": "60 s", "asynchronous": true})"));
    const double bytes = result.scenarios[0].changes->state_bytes;
    EXPECT_NEAR(one.copied_s, bytes / 55.4e9, 0.03 * one.copied_s);
    EXPECT_NEAR(one.written_s - one.copied_s, bytes / 1e9, 1e-6);
    EXPECT_GE(one.step_s, one.alone_s);
    EXPECT_NEAR(one.wait_s, std::max(0.0, one.copied_s - one.window_s), 1e-9);
    // Every rank writes: the state is copied over four host links at once, but to one storage.
    const CheckpointStepResult all = checkpoint_step(
        R"("/run/costs/storage_write": "1 GB/s", "/run/costs/writers": "every_rank")",
        R"("data": 4, "micro_batch": 4)");
    EXPECT_NEAR(all.copied_s, one.copied_s / 4, 0.1 * all.copied_s);
    EXPECT_NEAR(all.written_s - all.copied_s, bytes / 1e9, 1e-3);
}

TEST(Runs, CheckpointsThatComeTooOftenWaitForTheStorage) {
    const ExperimentResult result = result_of(experiment(
        R"(, "time": "600 s", "checkpoint": {"every": "1 s", "asynchronous": true})",
        R"({"name": "slow", "set": {"/run/costs/storage_write": "10 MB/s"}}, {"name": "fast"})"));
    const ChangesResult& slow = *result.scenarios[0].changes;
    EXPECT_GT(slow.storage_s, 300);
    EXPECT_LT(slow.share_of_training, 0.5);
    EXPECT_LT(slow.checkpoints, 200U);
    EXPECT_NE(slow.notes.at(0).find("begin before the previous one is written"), std::string::npos);
    const ChangesResult& fast = *result.scenarios[1].changes;
    EXPECT_EQ(fast.storage_s, 0);
    EXPECT_GT(fast.checkpoints, 500U);
    EXPECT_GT(fast.share_of_training, 0.98);
}

TEST(Runs, PhasesInWhichRanksWaitForEachOtherAreSimulated) {
    const ExperimentResult result = result_of(experiment(
        R"(, "time": "60 s", "method": "restart", "changes": [{"at": "10 s", "add": 6}])",
        R"({"name": "together"}, {"name": "apart", "set": {"/run/costs/skew": "5 s"}})"));
    const auto time = [&](std::size_t scenario, const std::string& name) {
        for (const ChangePhaseResult& phase : result.scenarios[scenario].changes->changes[0].phases)
            if (phase.name == name) {
                EXPECT_TRUE(phase.simulated) << name;
                return phase.seconds;
            }
        return 0.0;
    };
    EXPECT_NEAR(time(0, "bootstrap"), 7 * 100e-6, 1e-12);
    EXPECT_NEAR(time(1, "bootstrap"), 5 + 7 * 100e-6, 1e-3);
    EXPECT_NEAR(time(0, "connections"), 2 * 24 * 4.2e-3, 1e-9);  // 24 channels in one machine
    EXPECT_GT(time(0, "load"), 0);
}

TEST(Runs, BeginWithOneMemberWithoutTheScenarioThatTheMachineCannotRun) {
    const LoadedExperiment loaded = load_experiment(
        Json::parse(R"({
          "name": "test", "system": "../systems/v100_pcie.json", "causes": false,
          "workload": {
            "type": "training", "plan": {"data": 1, "micro_batch": 4},
            "network": {"type": "gpt", "layers": 2, "hidden": 64, "heads": 2, "sequence": 32}
          },
          "run": {
            "costs": "../costs/default.json", "time": "100 s",
            "changes": [{"at": "10 s", "add": 1, "method": "reconnect"}]
          }
        })"),
        kFile, {});
    const ExperimentResult result = result_of(loaded);
    ASSERT_EQ(result.scenarios.size(), 2U);
    EXPECT_EQ(result.scenarios[0].name, "serial");
    EXPECT_EQ(result.scenarios[1].name, "ring");
}

TEST(Runs, WhatNoTimeHoldsIsRefused) {
    const auto error = [](const std::string& run, const std::string& set) {
        try {
            static_cast<void>(
                result_of(experiment(run, R"({"name": "one", "set": {)" + set + "}}")));
        } catch (const ConfigError& refused) {
            return std::string(refused.what());
        }
        return std::string();
    };
    EXPECT_NE(
        error(
            R"(, "time": "60 s", "changes": [{"at": "10 s", "add": 1}])",
            R"("/run/costs/storage_read": "1 B/s")")
            .find("more than 213 days"),
        std::string::npos);
    EXPECT_NE(
        error_of(R"(, "steps": 1000000000000000)")
            .find("/run/steps: is 1000000000000000, and after"),
        std::string::npos);
    EXPECT_NE(
        error(R"(, "time": "86400 s")", R"("/run/checkpoint": {"every": "1 ns"})")
            .find("/checkpoint"),
        std::string::npos);
    EXPECT_NE(
        error_of(R"(, "time": "86400 s", "failures": {"per_gpu_day": 100000, "repair": "1 s"})")
            .find("/run/failures/per_gpu_day: leads to about 800000 failures"),
        std::string::npos);
}

TEST(Runs, WhatIsWrongIsToldAtOnceWithItsPlace) {
    const std::string wrong = error_of(
        R"(, "steps": 100, "method": "leave",
           "changes": [{"at": 10, "remove": [5]}, {"at": 5, "add": 20, "method": "join"}])");
    EXPECT_NE(wrong.find("/run/changes/0/remove/0: is 5, which does not train"), std::string::npos)
        << wrong;
    EXPECT_NE(
        wrong.find("/run/changes/1/add: is 20, and of the machine's 8 GPUs"), std::string::npos)
        << wrong;
    EXPECT_NE(wrong.find("/run/changes/1/at: is before"), std::string::npos) << wrong;
    EXPECT_NE(
        error_of(R"(, "steps": 10, "changes": [{"at": 10, "remove": 1}])")
            .find("/run/changes/0/at: is 10, and the run ends at step 10"),
        std::string::npos);
    EXPECT_NE(
        error_of(R"(, "steps": 10, "method": "leave", "changes": [{"at": "9000 s", "remove": 1}])")
            .find("/run/changes/0/at: is past the end of the run"),
        std::string::npos);
    EXPECT_NE(error_of(R"(, "changes": [])").find("/run: has no length"), std::string::npos);
    EXPECT_NE(
        error_of(
            R"(, "steps": 9, "method": "join", "changes": [{"at": 3, "add": 1}])",
            R"("data": 2, "micro_batch": 1)")
            .find("/run/changes/0: leaves 3 replicas for 2 samples"),
        std::string::npos);
}

TEST(Runs, CostsWithoutUnitsAreRefused) {
    const std::string text = R"({
      "name": "test", "system": "../systems/hgx_h100.json",
      "workload": {"type": "training", "network": "resnet18", "plan": {"data": 2}},
      "run": {"steps": 9, "costs": {"$base": "../costs/default.json", "kernels": 0.2, "import": "3"}}
    })";
    try {
        static_cast<void>(load_experiment(Json::parse(text), kFile, {}));
        FAIL();
    } catch (const ConfigError& error) {
        const std::string what = error.what();
        EXPECT_NE(
            what.find("/run/costs/kernels: is 0.2; expected a string with a unit"),
            std::string::npos)
            << what;
        EXPECT_NE(what.find("/run/costs/import: \"3\" has no unit"), std::string::npos) << what;
    }
}

TEST(Runs, SwitchesCopyStateToManyJoinersAtOnce) {
    const ExperimentResult result = result_of(experiment(
        R"(, "steps": 400, "method": "join", "changes": [{"at": 100, "add": 6}])",
        R"({"name": "tree", "set": {"/run/broadcast": "tree"}},
           {"name": "in_switch", "set": {"/run/broadcast": "in_switch"}})"));
    const auto transfer = [&](std::size_t scenario) {
        return result.scenarios[scenario].changes->changes.at(0).joining->transfer_s;
    };
    // The tree sends the whole state in three rounds; the switches replicate one stream.
    EXPECT_LT(transfer(1), transfer(0) / 2);
}

}  // namespace
}  // namespace switchfold::elastic_test
