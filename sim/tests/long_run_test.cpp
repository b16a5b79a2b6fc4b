// SPDX-License-Identifier: Apache-2.0
#include "sim/long_run.h"

#include "core/json.h"
#include "sim/config/plan_params.h"
#include "sim/config/training_params.h"
#include "sim/kinds/collective/collective_params.h"
#include "sim/runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace switchfold::long_run_test {
namespace {

WorkerProgress at(double elapsed_s, double share) {
    WorkerProgress progress;
    progress.elapsed_s = elapsed_s;
    progress.share = share;
    return progress;
}

TEST(LongRunNotice, IsSilentWhileARunMayEndWithinMinutes) {
    const Experiment experiment;
    LongRunNotice notice(experiment);
    EXPECT_FALSE(notice.of(at(1, 0)));
    EXPECT_FALSE(notice.of(at(20, 0.1)));
    EXPECT_FALSE(notice.of(at(200, 0.5)));
}

TEST(LongRunNotice, SaysOnceHowLongAtThisPace) {
    Experiment experiment;
    experiment.causes = false;
    experiment.fidelity = Fidelity::kExact;
    LongRunNotice notice(experiment);
    const auto said = notice.of(at(20, 0.02));
    ASSERT_TRUE(said);
    EXPECT_NE(said->find("(2.0 % in 20 s)"), std::string::npos) << *said;
    EXPECT_NE(said->find("about 16 minutes more"), std::string::npos) << *said;
    EXPECT_NE(said->find("/fidelity auto"), std::string::npos) << *said;
    EXPECT_EQ(said->find("/causes"), std::string::npos) << *said;
    EXPECT_FALSE(notice.of(at(30, 0.02)));
}

TEST(LongRunNotice, WithoutAPaceItPromisesNoTime) {
    const Experiment experiment;
    LongRunNotice notice(experiment);
    EXPECT_FALSE(notice.of(at(30, 0)));
    const auto said = notice.of(at(60, 0));
    ASSERT_TRUE(said);
    EXPECT_NE(said->find("less than 0.2 % in 60 s"), std::string::npos) << *said;
    EXPECT_EQ(said->find("minutes more"), std::string::npos) << *said;
}

TEST(LongRunNotice, OfThePreparationAsWell) {
    const Experiment experiment;
    WorkerProgress progress = at(20, 0.01);
    progress.phase = WorkPhase::kLearning;
    LongRunNotice notice(experiment);
    EXPECT_FALSE(notice.of(progress));
    progress.phase = WorkPhase::kPreparing;
    const auto said = notice.of(progress);
    ASSERT_TRUE(said);
    EXPECT_NE(said->find("preparing the workload takes about 33 minutes"), std::string::npos)
        << *said;
}

TEST(LongRunNotice, WhatPlansCanDo) {
    Experiment experiment;
    TrainingWorkloadParams training;
    training.plan = PlanParams{};
    training.plan->accumulate = 64;
    experiment.workload = training;
    LongRunNotice unfolded(experiment);
    const std::string all = unfolded.of(at(20, 0.01)).value();
    EXPECT_NE(all.find("/workload/plan/fold"), std::string::npos) << all;
    EXPECT_NE(all.find("/workload/plan/accumulate, 64"), std::string::npos) << all;
    EXPECT_NE(all.find("transfer_unit, 4 KiB"), std::string::npos) << all;
    training.plan->fold = false;
    experiment.workload = training;
    EXPECT_NE(
        LongRunNotice(experiment).of(at(20, 0.01)).value().find("/workload/plan/fold"),
        std::string::npos);
    training.plan->fold = true;
    training.plan->accumulate = 8;
    experiment.workload = training;
    LongRunNotice folded(experiment);
    const std::string few = folded.of(at(20, 0.01)).value();
    EXPECT_EQ(few.find("/workload/plan/fold"), std::string::npos) << few;
    EXPECT_EQ(few.find("accumulate"), std::string::npos) << few;
}

TEST(LongRunNotice, ACollectiveAloneHasNoCauses) {
    Experiment experiment;
    experiment.workload = CollectiveWorkloadParams{};
    experiment.causes = true;
    const std::string all = LongRunNotice(experiment).of(at(20, 0.01)).value();
    EXPECT_EQ(all.find("/causes"), std::string::npos) << all;
}

// One collective is one operation of each rank.
TEST(Progress, OfASingleCollectiveIsThatOfItsBytes) {
    for (const char* algorithm : {"ring", "tree", "in_switch"}) {
        const std::string text = fmt::format(
            R"({{"name": "one", "fidelity": "exact", "causes": false,
                 "system": "../systems/hgx_h100.json",
                 "workload": {{"type": "collective", "size": "256 MiB"}},
                 "scenarios": [{{"name": "it", "all_reduce": {{"algorithm": "{}"}}}}]}})",
            algorithm);
        std::vector<double> shares;
        RunOptions options;
        options.in_process = true;
        options.progress = [&](const WorkerProgress& progress) {
            shares.push_back(progress.share);
        };
        const auto file = SWITCHFOLD_SOURCE_DIR "/configs/experiments/rings.json";
        std::ignore = run_experiment(load_experiment(Json::parse(text), file, {}), options);
        EXPECT_TRUE(std::ranges::is_sorted(shares)) << algorithm;
        for (const double from : {0.2, 0.5})
            EXPECT_TRUE(std::ranges::any_of(
                shares, [&](double share) { return share > from && share < from + 0.35; }))
                << algorithm << " " << from;
    }
}

}  // namespace
}  // namespace switchfold::long_run_test
