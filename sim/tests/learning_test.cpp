// SPDX-License-Identifier: Apache-2.0
#include "sim/results/learning.h"

#include "core/error.h"
#include "core/json.h"
#include "sim/config/load.h"
#include "sim/output/writers.h"
#include "sim/results/learning_jobs.h"
#include "sim/runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

namespace switchfold::learning_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/test.json";

const std::string kSmall =
    R"(, "network": {"depth": 8, "width": 8}, "data": {"samples": 64, "held_out": 16})";

LoadedExperiment
experiment(const std::string& plan, const std::string& learning, const std::string& scenarios) {
    const std::string text = fmt::format(
        R"({{
          "name": "test", "system": "../systems/hgx_h100.json", "causes": false,
          "workload": {{
            "type": "training", "plan": {{{}}},
            "network": {{"type": "gpt", "layers": 8, "hidden": 512, "heads": 8, "sequence": 64, "vocabulary": 512}}
          }},
          "learning": {{"steps": 60, "evaluate_every": 10, "seeds": 2 {}}},
          "scenarios": [{}]
        }})",
        plan, learning, scenarios);
    return load_experiment(Json::parse(text), kFile, {});
}

ExperimentResult
run(const std::string& plan, const std::string& learning, const std::string& scenarios) {
    RunOptions options;
    options.in_process = true;
    return run_experiment(experiment(plan, learning, scenarios), options);
}

std::string error_of(const std::string& plan, const std::string& learning) {
    try {
        (void)run(plan, learning, R"({"name": "one"})");
    } catch (const ConfigError& error) {
        return error.what();
    }
    return {};
}

TEST(SeedMeans, HaveStudentsInterval) {
    const SeedMean five = mean_of(std::vector<double>{1, 2, 3, 4, 5});
    EXPECT_DOUBLE_EQ(five.mean, 3);
    EXPECT_NEAR(*five.half_width, 2.776 * std::sqrt(2.5 / 5), 1e-12);
    EXPECT_FALSE(mean_of(std::vector<double>{1}).half_width.has_value());
    const SeedMean many = mean_of(std::vector<double>(101, 2.0));
    EXPECT_DOUBLE_EQ(*many.half_width, 0);
}

TEST(Learning, FollowsWhatThePlanAverages) {
    const std::string replicas = R"("data": 4, "micro_batch": 4)";
    const std::string after = replicas + R"(, "overlap_gradients": false)";
    const std::string one = R"({"name": "one"})";
    const ExperimentResult said =
        run(replicas + R"(, "average": {"method": "elastic", "every": 4})", kSmall, one);
    const ExperimentResult learnt =
        run(after, kSmall + R"(, "averaging": {"type": "elastic", "every": 4})", one);
    const auto& a = said.scenarios.front();
    const auto& b = learnt.scenarios.front();
    EXPECT_EQ(a.iteration_us, b.iteration_us);
    EXPECT_EQ(a.learning->seeds[0].final_loss, b.learning->seeds[0].final_loss);
    EXPECT_NE(
        a.learning->seeds[0].final_loss,
        run(after, kSmall, one).scenarios.front().learning->seeds[0].final_loss);
    EXPECT_NE(
        error_of(replicas + R"(, "average": {"every": 4, "overlap": true})", kSmall)
            .find("/learning: follows averages after a step"),
        std::string::npos);
    EXPECT_NE(
        error_of(
            after + R"(, "average": {"every": 4})",
            kSmall + R"(, "averaging": {"type": "periodic"})")
            .find("/learning: has an averaging of its own"),
        std::string::npos);
}

TEST(Learning, OfAFlushIsThatOfOneGpuAndAnAsynchronousPipelineMissesUpdates) {
    const ExperimentResult result =
        run(R"("pipeline": 4, "micro_batch": 4, "schedule": "1f1b_async", "mini_batches": 40)",
            kSmall + R"(, "target": 0.9)",
            R"({"name": "one GPU", "set": {"/workload/plan": {"micro_batch": 4}}},
           {"name": "flush", "set": {"/workload/plan": {"pipeline": 4, "micro_batch": 1, "accumulate": 4}}},
           {"name": "replicas", "set": {"/workload/plan": {"data": 2, "micro_batch": 2}}},
           {"name": "latest"},
           {"name": "stash", "set": {"/workload/plan/weights": "stash"}},
           {"name": "folded", "set": {"/workload/plan/fold": true}})");
    ASSERT_EQ(result.scenarios.size(), 6U);
    const auto learned = [&](std::size_t i) -> const LearningResult& {
        return *result.scenarios[i].learning;
    };
    for (const std::size_t i : {1U, 2U})
        for (std::size_t seed = 0; seed < 2; ++seed)
            EXPECT_EQ(learned(i).seeds[seed].final_loss, learned(0).seeds[seed].final_loss);
    EXPECT_NE(learned(0).seeds[0].final_loss, learned(0).seeds[1].final_loss);
    for (std::size_t s = 0; s < 4; ++s) {
        EXPECT_EQ(learned(3).stages[s].forward_missed, 3.0 - static_cast<double>(s));
        EXPECT_EQ(learned(3).stages[s].backward_missed, 0);
        EXPECT_EQ(learned(4).stages[s].copies, 4 - s);
    }
    EXPECT_NE(learned(3).seeds[0].final_loss, learned(0).seeds[0].final_loss);
    // A folded plan trains the same way; only its times differ.
    EXPECT_EQ(learned(5).seeds[0].final_loss, learned(3).seeds[0].final_loss);
    for (const ScenarioResult& scenario : result.scenarios) {
        const LearningResult& learning = *scenario.learning;
        EXPECT_EQ(scenario.seeds_at_target, learning.reached);
        EXPECT_NEAR(learning.step_us / scenario.iteration_us, 1, 0.05) << scenario.name;
        EXPECT_NEAR(learning.curve.back().seconds * 1e6 / (60 * learning.step_us), 1, 0.15)
            << scenario.name;
        ASSERT_TRUE(scenario.final_loss.has_value());
        EXPECT_EQ(learning.losses.size(), 2U * 7U);
    }
    const std::string text = to_table(result);
    EXPECT_NE(text.find("final loss"), std::string::npos);
    EXPECT_NE(text.find("target 0.9"), std::string::npos);
}

/// Where a step flushes, what is learnt depends on its batch alone: not on when weights are updated
/// within it, where layers are, or how long before a pass its weights are gathered.
TEST(Learning, OfOneBatchIsOneLearning) {
    const ExperimentResult result =
        run(R"("micro_batch": 4)", kSmall,
            R"({"name": "plain"},
           {"name": "within", "set": {"/workload/plan/memory": {"planner": "none", "updates": "immediate"}}},
           {"name": "placed", "set": {"/workload/plan": {"micro_batch": 4, "placement": {"parts": 2}}, "/workload/network/tied": false}},
           {"name": "gathered", "set": {"/workload/plan": {"micro_batch": 1, "accumulate": 2, "pipeline": 2, "data": 2, "sharding": "parameters"}}})");
    ASSERT_EQ(result.scenarios.size(), 4U);
    const LearningResult& plain = *result.scenarios[0].learning;
    for (const std::size_t i : {1U, 2U, 3U}) {
        const LearningResult& other = *result.scenarios[i].learning;
        EXPECT_EQ(other.seeds[0].final_loss, plain.seeds[0].final_loss);
        EXPECT_NEAR(other.step_us / result.scenarios[i].iteration_us, 1, 1e-6);
    }
    try {
        (void)run(
            R"("data": 2, "micro_batch": 4, "overlap_gradients": false, "placement": {"parts": 2})",
            kSmall + R"(, "averaging": {"type": "periodic"})",
            R"({"name": "one", "set": {"/workload/network/tied": false}})");
        FAIL() << "averages parts of replicas";
    } catch (const ConfigError& error) {
        EXPECT_NE(
            std::string(error.what()).find("divides replicas, and learning"), std::string::npos)
            << error.what();
    }
}

/// A division of the plan is a division of what is learnt from.
TEST(Learning, SharesAreThoseOfThePlansDivision) {
    const std::string replicas = R"("data": 2, "micro_batch": 2)";
    const std::string one = R"({"name": "one"})";
    const ExperimentResult divided =
        run(replicas + R"(, "global_batch": 12, "division": [8, 4])", kSmall, one);
    const ExperimentResult shared =
        run(replicas + R"(, "global_batch": 12)", kSmall + R"(, "shares": [8, 4])", one);
    EXPECT_EQ(divided.scenarios[0].iteration_us, shared.scenarios[0].iteration_us);
    EXPECT_EQ(
        divided.scenarios[0].learning->seeds[0].final_loss,
        shared.scenarios[0].learning->seeds[0].final_loss);
}

TEST(Learning, ReplicasOfUnequalSharesStillTrainTheWholeBatch) {
    const ExperimentResult result =
        run(R"("data": 3, "micro_batch": 2)", "",
            R"({"name": "three"}, {"name": "one", "set": {"/workload/plan": {"micro_batch": 6}}})");
    EXPECT_EQ(
        result.scenarios[0].learning->seeds[0].final_loss,
        result.scenarios[1].learning->seeds[0].final_loss);
}

TEST(Learning, AveragesTakeTheTimeOfTheirExchanges) {
    const ExperimentResult result = run(
        R"("data": 4, "micro_batch": 2, "overlap_gradients": false)",
        kSmall + R"(, "averaging": {"type": "periodic", "every": 1})",
        R"({"name": "every step"}, {"name": "seldom", "set": {"/learning/averaging/every": 10}})");
    const LearningResult& often = *result.scenarios[0].learning;
    const LearningResult& seldom = *result.scenarios[1].learning;
    EXPECT_NEAR(often.step_us / result.scenarios[0].iteration_us, 1, 1e-6);
    EXPECT_LT(seldom.step_us, often.step_us);
    EXPECT_EQ(often.weights, "periodic, every 1");
    EXPECT_NE(often.seeds[0].final_loss, seldom.seeds[0].final_loss);
}

TEST(Learning, ThatDivergesOrNeverReachesItsTargetSaysSo) {
    const ExperimentResult never =
        run(R"("micro_batch": 4)", kSmall + R"(, "target": 1e-9)", R"({"name": "one"})");
    EXPECT_EQ(never.scenarios[0].learning->reached, 0U);
    EXPECT_FALSE(never.scenarios[0].steps_to_target.has_value());
    EXPECT_EQ(never.scenarios[0].seeds_at_target, 0);
    EXPECT_NE(to_table(never).find("never"), std::string::npos);
    const ExperimentResult diverged =
        run(R"("micro_batch": 4)", kSmall + R"(, "learning_rate": 1e7, "target": 0.1)",
            R"({"name": "too fast", "set": {"/learning/network/type": "residual"}})");
    const ScenarioResult& scenario = diverged.scenarios[0];
    EXPECT_EQ(scenario.learning->diverged, 2U);
    EXPECT_FALSE(scenario.final_loss.has_value());
    EXPECT_NE(to_table(diverged).find("too fast: seed 1 diverged at step"), std::string::npos);
    EXPECT_NE(to_table(diverged).find("learning rate 1e+07"), std::string::npos);
    EXPECT_NE(to_result_json(diverged).find("\"seeds_that_diverged\": 2"), std::string::npos);
}

TEST(Learning, RefusesWhatItCannotFollow) {
    EXPECT_NE(
        error_of(R"("pipeline": 4, "schedule": "1f1b_async")", R"(, "batch": 0)")
            .find("/learning/batch"),
        std::string::npos);
    EXPECT_NE(
        error_of(R"("pipeline": 4, "accumulate": 32)", "").find("/learning/batch: is 16 samples"),
        std::string::npos);
    EXPECT_NE(
        error_of(
            R"("pipeline": 4, "schedule": "1f1b_async", "mini_batches": 24, "update_every": 12)",
            "")
            .find("expected mini_batches of at least 36"),
        std::string::npos);
    EXPECT_NE(
        error_of(R"("pipeline": 2)", R"(, "averaging": {"type": "periodic"})")
            .find("/learning/averaging/type: is for replicas"),
        std::string::npos);
    EXPECT_NE(
        error_of(R"("data": 2)", R"(, "averaging": {"type": "periodic"})")
            .find("overlap_gradients false"),
        std::string::npos);
    EXPECT_NE(
        error_of("", R"(, "data": {"type": "csv"})").find("/learning/data/file: is missing"),
        std::string::npos);
    for (const char* type : {"csv", "text"}) {
        const std::string error = error_of(
            R"("fold": true)",
            fmt::format(R"(, "data": {{"type": "{}", "file": "nowhere.txt"}})", type));
        EXPECT_NE(
            error.find("test.json: /learning/data/file: is \"nowhere.txt\": "), std::string::npos)
            << error;
    }
    // Whose turns have more mini-batches than 32 bits hold.
    EXPECT_NE(
        error_of(R"("pipeline": 3, "replicas": [8, 8, 65536], "update_every": 1048576)", "")
            .find("expected a multiple of 68719476736"),
        std::string::npos);
    // Contents are blamed on the file.
    const std::string contents =
        error_of("", R"(, "data": {"type": "csv", "file": "../../README.md"})");
    EXPECT_NE(contents.find("README.md: line 1: has one column"), std::string::npos) << contents;
}

TEST(Learning, OfANetworkTooSmallForTheStagesIsRefused) {
    const std::string text = R"({
      "name": "test", "system": "../systems/hgx_h100.json",
      "workload": {"type": "training", "network": "alexnet", "plan": {"pipeline": 4}},
      "learning": {"network": {"depth": 3}}
    })";
    try {
        (void)run_experiment(load_experiment(Json::parse(text), kFile, {}), {});
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_NE(
            std::string(error.what()).find("/learning/network/depth: is 3, and the plan has 4"),
            std::string::npos)
            << error.what();
    }
}

TEST(Learning, EndsWhenItsRealTimeIsOverWhateverIsLong) {
    // Many steps, as a pipeline, as replicas that average, and as members; and one step of a large
    // network.
    const std::vector<std::pair<std::string, std::string>> long_ones{
        {R"("pipeline": 4, "micro_batch": 4, "schedule": "1f1b_async")", R"(, "steps": 1000000)"},
        {R"("pipeline": 2, "micro_batch": 4, "accumulate": 2)", R"(, "steps": 1000000)"},
        {R"("data": 2, "micro_batch": 2, "overlap_gradients": false)",
         R"(, "steps": 16000000, "averaging": {"type": "periodic", "every": 4})"},
        {R"("data": 2, "micro_batch": 2, "overlap_gradients": false)",
         R"(, "steps": 16000000, "averaging": {"type": "elastic_async", "every": 4})"},
        {R"("data": 2, "micro_batch": 2)", R"(, "steps": 100000, "shares": [1, 3], "batch": 1024)"},
        {R"("micro_batch": 2)",
         R"(, "steps": 2, "batch": 4096, "network": {"depth": 999, "width": 64})"}};
    for (const auto& [plan, learning] : long_ones) {
        LoadedExperiment loaded = experiment(plan, learning, R"({"name": "long"})");
        loaded.experiment.limits.real_time = nanoseconds(500'000'000);
        const auto begin = std::chrono::steady_clock::now();
        RunOptions options;
        options.in_process = true;
        std::vector<double> shares;
        options.progress = [&](const WorkerProgress& progress) {
            if (progress.phase == WorkPhase::kLearning)
                shares.push_back(progress.share);
        };
        try {
            static_cast<void>(run_experiment(loaded, options));
            ADD_FAILURE() << plan << learning;
        } catch (const SimulationError& error) {
            const std::string what = error.what();
            EXPECT_NE(what.find("long, seed 1: learning at "), std::string::npos) << what;
            EXPECT_NE(
                what.find("500 ms of real time allowed by /limits/real_time; "), std::string::npos)
                << what;
        }
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60)) << plan;
        EXPECT_FALSE(shares.empty()) << plan << learning;
        EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    }
    EXPECT_NE(
        error_of(
            R"("pipeline": 4, "micro_batch": 4, "schedule": "1f1b_async")", R"(, "steps": 8000000)")
            .find("/learning/steps: are 8000000, each of 1 micro-batches on 4 stages: 32000000 "
                  "forward passes"),
        std::string::npos);
}

TEST(Learning, NeedsAPlan) {
    const std::string text = R"({
      "name": "test", "system": "../systems/hgx_h100.json", "learning": {},
      "workload": {"type": "collective", "size": "1 MiB"}
    })";
    try {
        (void)run_experiment(load_experiment(Json::parse(text), kFile, {}), {});
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_NE(std::string(error.what()).find("/learning: needs"), std::string::npos);
    }
}

TEST(Learning, IsComparedSeedBySeed) {
    const ExperimentResult result = run(
        R"("pipeline": 4, "micro_batch": 4, "schedule": "1f1b_async", "mini_batches": 40)",
        kSmall + R"(, "seeds": 3, "target": 0.9, "compared_with": "one GPU", "gap_of": "latest")",
        R"({"name": "latest"},
               {"name": "one GPU", "set": {"/workload/plan": {"micro_batch": 4}}},
               {"name": "flush", "set": {"/workload/plan": {"pipeline": 4, "micro_batch": 4}}},
               {"name": "predicted", "set": {"/workload/plan/weights": "predict"}})");
    const auto& scenarios = result.scenarios;
    EXPECT_FALSE(scenarios[1].learning->comparison.has_value());
    const LearningComparison& flush = *scenarios[2].learning->comparison;
    EXPECT_EQ(flush.with, "one GPU");
    EXPECT_EQ(flush.loss_ratio->mean, 1);
    EXPECT_EQ(*flush.loss_ratio->half_width, 0);
    EXPECT_EQ(flush.loss_less->mean, 0);
    EXPECT_DOUBLE_EQ(flush.gap_closed->mean, 1);
    const LearningComparison& latest = *scenarios[0].learning->comparison;
    EXPECT_FALSE(latest.gap_closed.has_value());
    double ratio = 0;
    for (std::size_t i = 0; i < 3; ++i)
        ratio += scenarios[0].learning->seeds[i].final_loss /
                 scenarios[1].learning->seeds[i].final_loss / 3;
    EXPECT_NEAR(latest.loss_ratio->mean, ratio, 1e-12);
    EXPECT_EQ(scenarios[0].loss_ratio, latest.loss_ratio->mean);
    EXPECT_TRUE(scenarios[3].gap_closed.has_value());
    const std::string text = to_table(result);
    EXPECT_NE(text.find("gap closed"), std::string::npos) << text;
    EXPECT_NE(
        error_of(R"("micro_batch": 4)", R"(, "compared_with": "two GPUs")")
            .find("/learning/compared_with: is \"two GPUs\"; expected the name of a scenario"),
        std::string::npos);
}

TEST(Learning, NotesEveryPassOfTheFirstSeed) {
    const ExperimentResult result =
        run(R"("pipeline": 4, "micro_batch": 4, "schedule": "1f1b_async", "mini_batches": 40)",
            kSmall + R"(, "steps": 300)", R"({"name": "latest"})");
    const LearningResult& learning = *result.scenarios[0].learning;
    EXPECT_GE(learning.versions.size(), 300U * 4 * 2);
    std::uint32_t last = 0;
    for (const VersionRow& row : learning.versions)
        last = std::max(last, row.micro_batch);
    EXPECT_GE(last, 299U);
    EXPECT_GT(learning.stages[0].parameters, 0U);
    EXPECT_EQ(learning.stages[0].moments, 1U);
}

TEST(Learning, MembersThatComeAndGoTrainTheSame) {
    const ExperimentResult result =
        run(R"("data": 2, "micro_batch": 2)",
            kSmall + R"(, "optimizer": {"type": "adamw", "decay": 0.01}, "learning_rate": 0.01)",
            R"({"name": "two"},
               {"name": "unequal", "set": {"/learning/shares": [3, 1]}},
               {"name": "more and fewer", "set": {"/learning/members":
                   [{"at": 10, "add": 3}, {"at": 40, "remove": 4}]}})");
    const auto seed = [&](std::size_t i) {
        return result.scenarios[i].learning->seeds[0].final_loss;
    };
    EXPECT_EQ(seed(0), seed(1));
    EXPECT_EQ(seed(0), seed(2));
    // Replica 0 has three of the step's four samples, and the other waits for it.
    EXPECT_GT(result.scenarios[1].learning->step_us, 1.1 * result.scenarios[0].learning->step_us);
    EXPECT_NE(
        to_table(result).find(
            "more and fewer: after step 11 5 members (3 joined, 0 left), weights and moments "
            "bit-identical"),
        std::string::npos)
        << to_table(result);
    EXPECT_NE(to_result_json(result).find("\"bit_identical\": true"), std::string::npos);
    EXPECT_NE(
        error_of(R"("data": 2, "micro_batch": 2)", R"(, "members": [{"at": 5, "remove": 2}])")
            .find("/learning/members/0/remove: is 2 of 2; expected that at least one stays"),
        std::string::npos);
    EXPECT_NE(
        error_of(R"("pipeline": 2)", R"(, "members": [{"at": 5, "add": 1}])")
            .find("/learning/members: are replicas of a whole network"),
        std::string::npos);
    EXPECT_NE(
        error_of(R"("data": 2)", R"(, "members": [{"at": 5}])").find("/learning/members/0"),
        std::string::npos);
    EXPECT_NE(
        error_of(R"("data": 2)", R"(, "shares": [1, 2, 3])").find("/learning/shares: are 3"),
        std::string::npos);
    EXPECT_NE(
        error_of(R"("data": 2)", R"(, "shares": [1, 1000])").find("without a sample of 16"),
        std::string::npos);
    EXPECT_NE(
        error_of(R"("data": 2)", R"(, "shares": [1, 3])")
            .find("without a sample of the plan's step"),
        std::string::npos);
}

TEST(Means, OfPairsHaveARatioWithAnInterval) {
    const auto exact = ratio_of_means(std::vector<double>{1, 2, 3}, std::vector<double>{2, 4, 6});
    EXPECT_DOUBLE_EQ(exact->mean, 0.5);
    EXPECT_NEAR(*exact->half_width, 0, 1e-12);
    const auto noisy = ratio_of_means(std::vector<double>{1, 2, 3}, std::vector<double>{2, 2, 2});
    EXPECT_DOUBLE_EQ(noisy->mean, 1);
    EXPECT_NEAR(*noisy->half_width, 4.303 * 0.5 / std::sqrt(3), 1e-12);
    EXPECT_FALSE(ratio_of_means(std::vector<double>{1, 1}, std::vector<double>{1, -1}).has_value());
}

/// Sums in 8 bits reach the training: the coarser the numbers, the further the losses are off, and
/// a note says what was done.
TEST(Learning, AddsGradientsInTheNumbersOfTheSwitch) {
    const auto scenario = [](const std::string& name, const std::string& quantised) {
        return fmt::format(
            R"({{"name": "{}", "all_reduce": {{"algorithm": "in_switch", "mode": "push", "registered": true{}}}}})",
            name, quantised);
    };
    const ExperimentResult result =
        run(R"("data": 4)", kSmall,
            scenario("whole", "") + "," +
                scenario("port", R"(, "quantised": {"at": "port", "format": "int8"})") + "," +
                scenario("int8", R"(, "quantised": {"at": "gpu", "format": "int8"})") + "," +
                scenario("e5m2", R"(, "quantised": {"at": "gpu", "format": "float8_e5m2"})"));
    const auto loss = [&](std::size_t i) {
        return result.scenarios[i].learning->seeds.front().final_loss;
    };
    const double whole = loss(0);
    for (const std::size_t i : {1U, 2U, 3U}) {
        EXPECT_NE(loss(i), whole);
        EXPECT_NEAR(loss(i), whole, 0.05 * whole);
        EXPECT_TRUE(std::any_of(
            result.scenarios[i].notes.begin(), result.scenarios[i].notes.end(),
            [](const std::string& note) {
                return note.find("gradients of 4 replicas are added as") != std::string::npos;
            }));
    }
    EXPECT_LT(std::abs(loss(1) - whole), std::abs(loss(3) - whole));
    EXPECT_LT(std::abs(loss(2) - whole), std::abs(loss(3) - whole));
    // Whose replicas average adds no gradients, and says so.
    const ExperimentResult averaged =
        run(R"("data": 2, "overlap_gradients": false)",
            kSmall + R"(, "averaging": {"type": "periodic", "every": 4})",
            scenario("int8", R"(, "quantised": {"at": "gpu", "format": "int8"})"));
    EXPECT_TRUE(std::any_of(
        averaged.scenarios.front().notes.begin(), averaged.scenarios.front().notes.end(),
        [](const std::string& note) {
            return note.find("8-bit sums have no effect") != std::string::npos;
        }));
}

TEST(Learning, TravelsBetweenProcessesWhole) {
    learning::TrainingRun run;
    run.losses = {{1, 0.5, 0.25}, {2, 1, 0.125}};
    run.diverged = learning::Divergence{2, 1e9};
    run.stages.resize(3);
    run.stages[1].forward_missed = 2;
    run.versions.resize(2);
    run.passes = 9;
    run.membership = {{5, 4, 2, 1, true}};
    run.digest = 77;
    const std::string bytes = encode(TrainedRun{run, 12.5, {"a note"}});
    const TrainedRun again = decode_trained(bytes);
    EXPECT_EQ(encode(again), bytes);
    EXPECT_EQ(again.run.stages[1].forward_missed, 2);
    EXPECT_EQ(again.step_us, 12.5);
    EXPECT_EQ(again.notes, std::vector<std::string>{"a note"});
    EXPECT_THROW((void)decode_trained(bytes.substr(1)), InternalError);
    EXPECT_THROW((void)decode_trained(bytes + "x"), InternalError);
}

}  // namespace
}  // namespace switchfold::learning_test
