// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/json.h"
#include "core/random_stream.h"
#include "sim/config/load.h"
#include "sim/runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace switchfold::random_changes_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/test.json";

/// Random runs of a small network on four GPUs, with changes, checkpoints, failures and costs.
/// Some combinations make no sense.
class RandomRun {
public:
    explicit RandomRun(std::uint64_t seed) : random_(seed, "runs") {}

    Json make() {
        Json run{{"costs", costs()}, {"changes", Json::array()}};
        const bool steps = one_of(3);
        if (steps)
            run["steps"] = 5000 + random_.below(5000);
        else
            run["time"] = fmt::format("{} s", 2000 + random_.below(3000));
        run["method"] = method();
        run["keep"] = one_of(2) ? "global_batch" : "per_gpu";
        run["broadcast"] = std::array{"ring", "tree", "scatter", "in_switch"}[random_.below(4)];
        std::uint64_t at = 0;
        for (std::uint64_t i = random_.below(4); i > 0; --i)
            run["changes"].push_back(change(at += random_.below(steps ? 2000 : 1000), steps));
        if (one_of(2))
            run["checkpoint"] = {
                {"every", fmt::format("{} ms", 1000 * (1 + random_.below(600)))},
                {"asynchronous", one_of(2)}};
        if (!steps && one_of(3))
            run["failures"] = {
                {"per_gpu_day", 1 + random_.below(50)},
                {"repair", fmt::format("{} s", random_.below(2000))},
                {"spares", random_.below(3)},
                {"method", one_of(2) ? "failure" : "restart"},
                {"rejoin", one_of(2) ? "join" : "restart"}};
        return run;
    }

private:
    bool one_of(std::uint64_t among) { return random_.below(among) == 0; }
    std::string method() {
        return std::array{"restart", "reconnect", "join", "leave", "failure"}[random_.below(5)];
    }
    Json gpus() {
        if (!one_of(4))
            return 1;
        Json ranks = Json::array();
        for (std::uint64_t i = 1 + random_.below(2); i > 0; --i)
            ranks.push_back(random_.below(5));
        return ranks;
    }
    Json change(std::uint64_t at, bool steps) {
        Json change;
        change["at"] = steps ? Json(at) : Json(fmt::format("{} s", at));
        const bool adds = !one_of(3);
        change[adds ? "add" : "remove"] = gpus();
        // Mostly a method that suits the change; else the run's, which may not.
        if (!one_of(10))
            change["method"] = adds ? std::array{"restart", "reconnect", "join"}[random_.below(3)]
                                    : std::array{"restart", "leave", "failure"}[random_.below(3)];
        if (one_of(4))
            change["notice"] = fmt::format("{} s", random_.below(400));
        if (one_of(8))
            change["died"] = true;
        return change;
    }
    Json costs() {
        Json costs{{"$base", "../costs/default.json"}};
        if (one_of(2))
            costs["timeout"] = fmt::format("{} s", random_.below(1000));
        if (one_of(2))
            costs["storage_write"] = fmt::format("{} MB/s", 1 + random_.below(5000));
        if (one_of(3))
            costs["skew"] = fmt::format("{} ms", random_.below(60'000));
        if (one_of(3))
            costs["keep_processes"] = true;
        if (one_of(3))
            costs["poll"] = fmt::format("{} ms", random_.below(10'000));
        costs["readers"] = std::array{"every_rank", "every_machine", "one"}[random_.below(3)];
        costs["writers"] = one_of(2) ? "one" : "every_rank";
        return costs;
    }

    RandomStream random_;
};

void check(const ChangesResult& run, const Json& asked) {
    EXPECT_GE(run.share_of_training, 0);
    EXPECT_LE(run.share_of_training, 1 + 1e-12);
    EXPECT_GE(run.checkpoints_s + 1e-12, run.storage_s);
    EXPECT_LE(run.paused_s + run.checkpoints_s, run.end_s + 1e-9);
    EXPECT_GE(run.gpu_seconds_held, 0);
    double at = 0;
    std::uint64_t steps = 0;
    for (const RunStretchResult& stretch : run.stretches) {
        EXPECT_NEAR(stretch.begin_s, at, 1e-9);
        EXPECT_GE(stretch.end_s, stretch.begin_s);
        EXPECT_LE(stretch.members, 4U);
        at = stretch.end_s;
        steps += stretch.steps;
    }
    EXPECT_NEAR(at, run.end_s, 1e-9);
    if (asked.contains("time"))
        EXPECT_NEAR(run.end_s, std::stod(asked["time"].get<std::string>()), 1e-9);
    else
        EXPECT_EQ(run.steps, asked["steps"].get<std::uint64_t>());
    std::uint32_t members = 2;
    for (const ChangeResult& change : run.changes) {
        EXPECT_EQ(change.from, members);
        members = change.to;
        EXPECT_EQ(change.from + change.added.size() - change.removed.size(), change.to);
        EXPECT_GE(change.to, 1U);
        EXPECT_LE(change.to, 4U);
        for (const double seconds :
             {change.pause_s, change.slowdown_s, change.lost_s, change.late_s, change.to_size_s,
              change.gpu_seconds_lost})
            EXPECT_GE(seconds, 0);
        EXPECT_LE(change.asked_s, change.resumed_s);
        for (const ChangePhaseResult& phase : change.phases)
            EXPECT_GT(phase.seconds, 0) << phase.name;
        steps -= change.lost_steps;
    }
    EXPECT_EQ(steps, run.steps);
}

TEST(RandomRuns, EndAndAddUpOrSayWhatIsWrong) {
    constexpr std::uint64_t kRuns = 60;
    std::uint64_t ran = 0;
    for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
        const Json run = RandomRun(seed).make();
        SCOPED_TRACE(fmt::format("seed {}: {}", seed, run.dump()));
        const Json experiment{
            {"name", "random"},
            {"system", {{"$base", "../systems/hgx_h100.json"}, {"topology", {{"gpus", 4}}}}},
            {"causes", false},
            {"workload",
             {{"type", "training"},
              {"plan", {{"data", 2}, {"micro_batch", 4}}},
              {"network",
               {{"type", "gpt"},
                {"layers", 1},
                {"hidden", 256},
                {"heads", 4},
                {"sequence", 64},
                {"vocabulary", 128}}}}},
            {"run", run},
            {"scenarios", {{{"name", "one"}}}}};
        try {
            RunOptions options;
            options.in_process = true;
            const ExperimentResult result =
                run_experiment(load_experiment(experiment, kFile, {}), options);
            check(*result.scenarios.at(0).changes, run);
            ++ran;
        } catch (const ConfigError& error) {
            EXPECT_NE(std::string_view(error.what()).find("/run"), std::string_view::npos)
                << error.what();
        }
    }
    EXPECT_GE(ran, kRuns / 5);
}

}  // namespace
}  // namespace switchfold::random_changes_test
