// SPDX-License-Identifier: Apache-2.0
#include "sim/planner/planner.h"

#include "core/error.h"
#include "core/json.h"
#include "core/tests/temporary_folder.h"
#include "sim/config/rank_gpus.h"
#include "sim/planner/machine_links.h"
#include "sim/planner/plan_files.h"
#include "sim/runner.h"
#include "sim/workload/plan_workload.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <string>

namespace switchfold::planner_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/test.json";

constexpr const char* kNetwork =
    R"({"type": "gpt", "layers": 4, "hidden": 256, "heads": 8, "sequence": 128, "vocabulary": 1024})";

/// Two of four GPUs are slower.
constexpr const char* kUnequal =
    R"({"$base": "../systems/hgx_h100.json",
        "gpus": [{"ranks": [1, 3], "gpu": "../systems/gpus/a100_40gb.json"}]})";

/// `system`: a shipped one's name, or an object.
LoadedExperiment experiment(
    const std::string& planner, const std::string& system = "hgx_h100",
    const std::string& more = "", const std::string& scenarios = "") {
    const std::string text = fmt::format(
        R"({{"name": "test", "system": {}, "causes": false, {}
            "workload": {{"type": "training", "gradient": "bfloat16", "network": {}}},
            {} "planner": {{{}}}}})",
        system.starts_with('{') ? system : fmt::format("\"../systems/{}.json\"", system), more,
        kNetwork, scenarios, planner);
    return load_experiment(Json::parse(text), kFile, {});
}

std::string refused(const std::string& planner, const std::string& system = "hgx_h100") {
    try {
        static_cast<void>(search_plans(experiment(planner, system), {}));
    } catch (const ConfigError& error) {
        return error.problems().front().pointer + " " + error.problems().front().message;
    }
    return "";
}

/// A search space small enough to simulate every candidate.
constexpr const char* kSmall =
    R"("global_batch": 8, "gpus": 4, "tensor": [1, 2], "pipeline": [1, 2], "micro_batch": [2],
       "sequence": "no", "sharding": ["none", "optimizer"], "recompute": ["none"],
       "schedule": ["1f1b"])";

double run_alone(const PlanCandidate& candidate, const LoadedExperiment& loaded) {
    return run_experiment(experiment_of(candidate, loaded), {}).scenarios.front().iteration_us *
           1e-6;
}

void expect_what_trying_all_finds(const LoadedExperiment& loaded) {
    const PlannerResult result = search_plans(loaded, {});
    EXPECT_TRUE(result.proved());
    ASSERT_GT(result.space.candidates.size(), 8U);
    double best = std::numeric_limits<double>::infinity();
    for (const PlanCandidate& candidate : result.space.candidates) {
        const double seconds = run_alone(candidate, loaded);
        EXPECT_LE(candidate.bound.seconds(), seconds) << name_of(candidate, loaded.experiment);
        best = std::min(best, seconds);
    }
    EXPECT_EQ(result.simulated.front().seconds, best);
    for (const SimulatedPlan& plan : result.simulated)
        if (plan.alone_seconds) {
            // Who comes first may differ, by packets of nanoseconds.
            EXPECT_LE(*plan.alone_seconds, plan.seconds * (1 + 1e-5));
            EXPECT_GE(
                *plan.alone_seconds, result.simulated[*result.alone_best].alone_seconds.value());
        }
}

TEST(Planner, FindsWhatTryingAllFinds) {
    expect_what_trying_all_finds(experiment(kSmall));
}

TEST(Planner, FindsThePlanThatSuffersLeastFromASlowRank) {
    const std::string slow = R"("ranks": [{"rank": 3, "compute": 1.4}],)";
    expect_what_trying_all_finds(experiment(kSmall, "hgx_h100", slow));
}

TEST(Planner, FindsThePlanThatSuitsUnequalGpus) {
    expect_what_trying_all_finds(experiment(kSmall, kUnequal));
}

TEST(Planner, FitsEachRanksGpu) {
    const char* small_gpu =
        R"({"$base": "../systems/hgx_h100.json",
            "gpus": [{"ranks": [3], "gpu": {"$base": "../systems/gpus/a100_40gb.json",
                                             "memory": {"capacity": "1 MiB", "reserve": "0 B"}}}]})";
    EXPECT_TRUE(
        refused(kSmall, small_gpu).find("more than the 0 of NVIDIA A100") != std::string::npos)
        << refused(kSmall, small_gpu);
    EXPECT_EQ(
        refused(kSmall + std::string(R"(, "memory": [{"planner": "offload_all"}])"), kUnequal),
        "/planner/memory plans the memory of one kind of GPU, and /system/gpus has others; "
        "expected none beside them");
}

TEST(Planner, BoundsTheStepThatIsSimulatedWithExpertsOnFewMachines) {
    const std::string text = R"({
        "name": "test", "causes": false, "memory": "ignore",
        "system": {"$base": "../systems/dgx_h100_ndr.json", "topology": {"nodes": 2}},
        "workload": {"type": "training", "gradient": "bfloat16",
            "network": {"type": "moe", "layers": 2, "hidden": 512, "heads": 8, "kv_heads": 8,
                        "sequence": 256, "vocabulary": 1024, "feed_forward": 1024, "experts": 16,
                        "top_k": 4},
            "plan": {"data": 16, "expert": 16, "expert_nodes": 1}},
        "planner": {"global_batch": 16, "gpus": 16, "data": [16], "sequence": "no",
                    "sharding": ["none"], "recompute": ["none"], "schedule": ["1f1b"],
                    "overlap_gradients": "no"}})";
    const LoadedExperiment loaded = load_experiment(Json::parse(text), kFile, {});
    const CandidateSpace space = candidate_space(loaded, 1);
    ASSERT_EQ(space.candidates.size(), 1U);
    const LoadedExperiment alone = experiment_of(space.candidates.front(), loaded);
    PlanProblems problems;
    const auto prepared = prepare_plan(
        *workload_of<TrainingWorkloadParams>(alone.experiment), RankGpus(*alone.experiment.system),
        kFile.parent_path(), problems);
    ASSERT_TRUE(prepared);
    const MachineLinks links(
        std::make_shared<MachineCuts>(*alone.experiment.system),
        alone.experiment.scenarios.front().policies());
    EXPECT_EQ(
        space.candidates.front().bound.seconds(), plan_bound(*prepared->step, links).seconds());
}

TEST(Planner, RefusesRanksThatAreFasterOrTakeNoPart) {
    const auto refused_ranks = [](const std::string& ranks) -> std::string {
        try {
            static_cast<void>(
                search_plans(experiment(kSmall, "hgx_h100", R"("ranks": [)" + ranks + "],"), {}));
        } catch (const ConfigError& error) {
            return error.problems().front().pointer + " " + error.problems().front().message;
        }
        return "";
    };
    EXPECT_EQ(
        refused_ranks(R"({"rank": 1, "compute": 0.9})"),
        "/ranks/0/compute is 0.9, and no plan is faster than its bound on GPUs that are not; "
        "expected at least 1 beside a planner");
    EXPECT_EQ(
        refused_ranks(R"({"rank": 1, "compute": 1.1}, {"rank": 6, "delay": "1 ms"})"),
        "/ranks/1/rank is 6, and plans are for 4 GPUs; expected one of these");
}

TEST(Planner, GoesOnWhereABudgetEndedAndWritesAPlanThatRuns) {
    const TemporaryFolder folder;
    const LoadedExperiment loaded = experiment(kSmall);
    PlannerOptions options;
    options.out = folder.path();
    options.budget.simulations = 2;
    const PlannerResult begun = search_plans(loaded, options);
    EXPECT_EQ(begun.simulations, 2U);
    EXPECT_FALSE(begun.proved());
    EXPECT_LT(begun.least_bound, begun.simulated.front().seconds);
    options.budget.simulations.reset();
    const PlannerResult whole = search_plans(loaded, options);
    EXPECT_TRUE(whole.proved());
    const PlannerResult afresh = search_plans(loaded, {});
    EXPECT_EQ(whole.simulations + 2, afresh.simulations);
    EXPECT_EQ(whole.simulated.front().seconds, afresh.simulated.front().seconds);
    options.budget.simulations = 0;
    EXPECT_EQ(search_plans(loaded, options).simulations, 0U) << "all is there";
    const LoadedExperiment plan = load_experiment(folder.path() / "plan.json", {});
    EXPECT_FALSE(plan.experiment.planner);
    const ExperimentResult ran = run_experiment(plan, {});
    EXPECT_NEAR(ran.scenarios.front().iteration_us * 1e-6, whole.simulated.front().seconds, 1e-12);
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "plans.csv"));
}

TEST(Planner, SaysWhichConstraintEmptiesASpace) {
    EXPECT_EQ(
        refused(R"("global_batch": 8, "gpus": 9)"),
        "/planner/gpus is 9, and hgx_h100 has 8 GPUs; expected at most those");
    EXPECT_EQ(
        refused(R"("global_batch": 6, "tensor": [1], "pipeline": [1])"),
        "/planner leaves no plan: the batch refuses 1 (8 replicas do not divide 6 samples); "
        "expected values that go together");
    EXPECT_EQ(
        refused(R"("global_batch": 8, "tensor": [3], "pipeline": [1])"),
        "/planner leaves no plan: the number of GPUs refuses 1 (tensor 3 x context 1 x pipeline 1 "
        "does not divide 8 GPUs); expected values that go together");
    EXPECT_TRUE(refused(R"("global_batch": 8, "schedule": ["1f1b_async"])")
                    .starts_with("/planner/schedule/0 is \"1f1b_async\", which never flushes and "
                                 "trains with other weights; expected one of: gpipe, 1f1b"));
    EXPECT_EQ(
        refused(R"("global_batch": 8, "scenarios": ["tree"])"),
        "/planner/scenarios/0 names \"tree\", which is not a scenario; expected the name of one");
}

TEST(Planner, TellsTheClosestMissInMemory) {
    const std::string text = fmt::format(
        R"({{"name": "test", "system": "../systems/hgx_h100.json",
            "workload": {{"type": "training", "network": "gpt_175b"}},
            "planner": {{"global_batch": 8, "pipeline": [8], "micro_batch": [1, 2],
                         "schedule": ["1f1b"], "recompute": ["full"], "scenarios": ["ring"]}}}})");
    try {
        static_cast<void>(search_plans(load_experiment(Json::parse(text), kFile, {}), {}));
        FAIL();
    } catch (const ConfigError& error) {
        const std::string& message = error.problems().front().message;
        EXPECT_TRUE(message.starts_with(
            "leaves no plan that fits in memory: the closest of 2, pipeline 8, 1f1b, micro-batch 1 "
            "x 8, full recompute, ring, needs "))
            << message;
    }
}

TEST(Planner, LeavesOutWhatTheMachineCannotReduce) {
    const PlannerResult result = search_plans(
        experiment(
            R"("global_batch": 4, "gpus": 2, "tensor": [1], "micro_batch": [2],
               "sharding": ["none"], "recompute": ["none"], "schedule": ["1f1b"])",
            "rtx4090_pcie"),
        {});
    ASSERT_EQ(result.space.notes.size(), 1U);
    EXPECT_TRUE(result.space.notes.front().starts_with("in_switch was left out"));
    EXPECT_TRUE(result.proved());
}

RC_GTEST_PROP(PlanBound, IsNeverAboveTheSimulatedTime, ()) {
    struct On {
        const char* system;
        const char* scenario;
    };
    const On on = *rc::gen::element(
        On{"hgx_h100", "ring"}, On{"hgx_h100", "in_switch"}, On{"hgx_h100", "auto"},
        On{"dgx1_v100", "ring"}, On{"rtx4090_pcie", "auto"}, On{"h100_pcie_nvbridge", "ring"},
        On{"dgx_a100", "auto"}, On{kUnequal, "ring"}, On{kUnequal, "auto"});
    const std::string scenarios = fmt::format(
        R"("scenarios": [{{"name": "{0}", "all_reduce": {{"algorithm": "{0}"}}}}],)", on.scenario);
    const auto one = [](auto... values) { return *rc::gen::element<std::string>(values...); };
    const std::string planner = fmt::format(
        R"("global_batch": {}, "gpus": 4, "tensor": [{}], "pipeline": [{}], "micro_batch": [{}],
           "sequence": "{}", "sharding": ["{}"], "recompute": ["{}"], "schedule": ["{}"],
           "overlap_gradients": "{}")",
        one("4", "8"), one("1", "2", "4"), one("1", "2", "4"), one("1", "2"), one("yes", "no"),
        one("none", "optimizer", "gradients", "parameters"), one("none", "full"),
        one("1f1b", "gpipe", "zb_h1", "zb_v", "chimera", "interleaved_1f1b"), one("yes", "no"));
    const LoadedExperiment loaded = experiment(planner, on.system, "", scenarios);
    std::optional<CandidateSpace> space;
    try {
        space = candidate_space(loaded, 1);
    } catch (const ConfigError&) {
        RC_DISCARD("no such plan");
    }
    for (const PlanCandidate& candidate : space->candidates) {
        const double seconds = run_alone(candidate, loaded);
        if (candidate.bound.seconds() > seconds)
            RC_FAIL(fmt::format(
                "{} on {}: bound {} s, simulated {} s", name_of(candidate, loaded.experiment),
                on.system, candidate.bound.seconds(), seconds));
    }
}

}  // namespace
}  // namespace switchfold::planner_test
