// SPDX-License-Identifier: Apache-2.0
// Members that come and go in plans that divide a replica or its state.
#include "core/error.h"
#include "core/json.h"
#include "sim/config/load.h"
#include "sim/runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::member_plans_test {
namespace {

constexpr std::string_view kGpt =
    R"({"type": "gpt", "layers": 4, "hidden": 512, "heads": 8, "sequence": 256, "vocabulary": 512})";
constexpr std::string_view kExperts =
    R"({"type": "moe", "layers": 2, "hidden": 256, "heads": 4, "kv_heads": 4, "sequence": 128,
        "vocabulary": 512, "feed_forward": 512, "experts": 4, "top_k": 2})";

ExperimentResult
run(const std::string& plan, const std::string& changes, std::string_view network = kGpt,
    const std::string& more = "") {
    const std::string text = fmt::format(
        R"({{
          "name": "test", "system": "../systems/hgx_h100.json", "causes": false,
          "workload": {{"type": "training", "plan": {{{}}}, "network": {}}},
          "run": {{"time": "200 s", "keep": "per_gpu", "costs": "../costs/default.json",
                   "changes": [{}] {}}},
          "scenarios": [{{"name": "one"}}]
        }})",
        plan, network, changes, more);
    RunOptions options;
    options.in_process = true;
    return run_experiment(
        load_experiment(
            Json::parse(text), SWITCHFOLD_SOURCE_DIR "/configs/experiments/test.json", {}),
        options);
}

std::string error_of(const std::string& plan, const std::string& changes) {
    try {
        static_cast<void>(run(plan, changes));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return {};
}

double phase(const ChangeResult& change, std::string_view name) {
    for (const ChangePhaseResult& one : change.phases)
        if (one.name == name)
            return one.seconds;
    return 0;
}

TEST(MemberPlans, ReplicasOfSeveralGpusComeAndGo) {
    struct Plan {
        std::string text;
        std::uint32_t each;
        std::string_view network = kGpt;
    };
    const std::vector<Plan> plans{
        {R"("data": 2, "tensor": 2, "sequence": true)", 2},
        {R"("data": 2, "context": 2)", 2},
        {R"("data": 2, "pipeline": 2, "accumulate": 4)", 2},
        {R"("data": 2, "pipeline": 2, "accumulate": 4, "schedule": "interleaved_1f1b", "chunks": 2)",
         2},
        {R"("data": 2, "pipeline": 2, "accumulate": 4, "schedule": "zb_h1")", 2},
        {R"("data": 2, "expert": 2)", 2, kExperts},
        {R"("data": 2, "tensor": 2, "sharding": "optimizer")", 2},
        {R"("data": 2, "sharding": "gradients")", 1},
        {R"("data": 4, "sharding": "parameters")", 1}};
    for (const Plan& plan : plans) {
        for (const char* method : {"join", "reconnect", "restart"}) {
            const ExperimentResult result =
                run(plan.text,
                    fmt::format(
                        R"({{"at": "10 s", "add": 2, "method": "{}"}},
                       {{"at": "100 s", "remove": 2, "method": "leave", "notice": "5 s"}})",
                        method),
                    plan.network);
            const std::vector<ChangeResult>& changes = result.scenarios[0].changes->changes;
            ASSERT_EQ(changes.size(), 2U);
            EXPECT_TRUE(changes[0].reached && changes[1].reached) << plan.text << method;
            EXPECT_EQ(changes[0].to - changes[0].from, 2U) << plan.text;
            EXPECT_EQ(changes[1].to, changes[0].from) << plan.text;
            EXPECT_EQ(changes[0].added.size(), 2U);
            // Training with one member more is not slower by more than what it exchanges.
            EXPECT_GT(result.scenarios[0].changes->samples_per_s, 0) << plan.text;
        }
    }
}

TEST(MemberPlans, WhatMovesFollowsFromWhoHoldsIt) {
    const std::string join = R"({"at": "10 s", "add": 2, "method": "join"},
                                {"at": "100 s", "remove": 2, "method": "leave"})";
    const auto changes = [&](const std::string& plan) {
        return run(plan, join).scenarios[0].changes->changes;
    };
    const auto none = changes(R"("data": 2)");
    const auto optimizer = changes(R"("data": 2, "sharding": "optimizer")");
    const auto parameters = changes(R"("data": 2, "sharding": "parameters")");
    ASSERT_TRUE(none[0].joining && optimizer[0].joining);
    // Weights and moments, or a part of the moments.
    EXPECT_GT(none[0].joining->transfer_s, 2 * optimizer[0].joining->transfer_s);
    EXPECT_EQ(phase(none[1], "state"), 0);
    EXPECT_GT(phase(optimizer[1], "state"), 0);
    // Weights that replicas divide move in the pause, and nobody sends whole ones.
    EXPECT_FALSE(parameters[0].joining);
    EXPECT_GT(phase(parameters[0], "state"), 0);
    EXPECT_EQ(phase(parameters[0], "weights"), 0);
    EXPECT_GT(phase(parameters[1], "state"), phase(optimizer[1], "state"));
}

TEST(MemberPlans, TensorRanksReceiveHalfTheState) {
    const std::string join = R"({"at": "10 s", "add": 2, "method": "join"})";
    const auto whole = run(R"("data": 2)", join).scenarios[0].changes->changes;
    const auto halves = run(R"("data": 2, "tensor": 2)", join).scenarios[0].changes->changes;
    EXPECT_LT(halves[0].joining->transfer_s, 0.75 * whole[0].joining->transfer_s);
}

TEST(MemberPlans, AFailureTakesAMemberAndARestartBringsTheDividedStateBack) {
    const auto changes = run(R"("data": 3, "tensor": 2, "sharding": "optimizer")",
                             R"({"at": "50 s", "remove": [3], "method": "restart", "died": true})",
                             kGpt, R"(, "checkpoint": {"every": "20 s"})")
                             .scenarios[0]
                             .changes->changes;
    EXPECT_EQ(changes[0].removed, (std::vector<std::uint32_t>{2, 3}));
    EXPECT_EQ(changes[0].to, 4U);
    EXPECT_GT(changes[0].lost_steps, 0U);
}

TEST(MemberPlans, RefusesWhatCannotBe) {
    EXPECT_NE(
        error_of(
            R"("data": 2, "sharding": "optimizer")",
            R"({"at": "10 s", "remove": [1], "method": "failure"})")
            .find(
                "/run/changes/0/method: goes on with what is left, and replicas divide the state"),
        std::string::npos);
    EXPECT_NE(
        error_of(R"("data": 2, "tensor": 2)", R"({"at": "10 s", "add": 3, "method": "join"})")
            .find("/run/changes/0/add: is 3, and a member of this plan has 2 GPUs"),
        std::string::npos);
    EXPECT_NE(
        error_of(
            R"("pipeline": 2, "schedule": "1f1b_async")",
            R"({"at": "10 s", "add": 2, "method": "join"})")
            .find("never flushes"),
        std::string::npos);
}

}  // namespace
}  // namespace switchfold::member_plans_test
