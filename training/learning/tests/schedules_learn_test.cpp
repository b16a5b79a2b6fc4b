// SPDX-License-Identifier: Apache-2.0
#include "training/learning/tests/training.h"

#include <gtest/gtest.h>

#include <cmath>

namespace switchfold::learning::schedules_learn_test {
namespace {

Task small_task() {
    Task task;
    task.network.depth = 8;
    task.network.width = 8;
    task.data.samples = 128;
    task.data.held_out = 32;
    task.batch = 16;
    task.steps = 12;
    task.evaluate_every = 4;
    task.optimizer.rate = 0.2;
    return task;
}

TEST(FlushSchedules, TrainTheSameBitsAsOneDevice) {
    for (const NetworkKind kind :
         {NetworkKind::kMlp, NetworkKind::kResidual, NetworkKind::kTransformer}) {
        Task task = small_task();
        task.network.kind = kind;
        const TrainingRun sequential =
            trained(task, WeightPolicy::kLatest, timeline_of("gpipe", 1, 1, task.steps));
        ASSERT_EQ(sequential.losses.size(), 4U);
        EXPECT_LT(sequential.losses.back().loss, sequential.losses.front().loss);
        int schedules = 0;
        for (const ScheduleGenerator& generator : schedule_generators()) {
            ScheduleShape shape;
            shape.devices = 4;
            shape.micro_batches = 8;
            shape.chunks = 2;
            if (generator.never_flushes || !generator.refusal(shape).empty())
                continue;
            const TrainingRun run = trained(
                task, WeightPolicy::kLatest,
                timeline_of(std::string(generator.name).c_str(), 4, 8, task.steps));
            ASSERT_EQ(run.losses.size(), sequential.losses.size());
            for (std::size_t i = 0; i < run.losses.size(); ++i)
                EXPECT_EQ(run.losses[i].loss, sequential.losses[i].loss) << generator.name;
            ++schedules;
        }
        EXPECT_GE(schedules, 11);
    }
}

/// One device with one piece per stage. An update directly follows the last pass that reads its
/// weights, or comes one piece later, instead of after the whole backward pass
/// (docs/memory_plans.md).
TEST(UpdatesWithinBackward, TrainTheSameBitsAsUpdatesAfterIt) {
    const Task task = small_task();
    const std::uint32_t depth = task.network.depth;
    const std::uint64_t batch =
        trained(task, WeightPolicy::kLatest, timeline_of("gpipe", 1, 1, task.steps)).digest;
    for (const bool delayed : {false, true}) {
        RanPasses step{depth, 1, 1, {}};
        double now = 0;
        const auto add = [&](PassKind kind, std::uint32_t stage) {
            step.passes.push_back({{kind, 0, stage}, 0, now, now + 1});
            ++now;
        };
        for (std::uint32_t s = 0; s < depth; ++s)
            add(PassKind::kForward, s);
        if (delayed)
            add(PassKind::kInputGradient, depth - 1);
        for (std::uint32_t s = depth; s-- > 0;) {
            if (!delayed)
                add(PassKind::kBackward, s);
            else if (s > 0)
                add(PassKind::kInputGradient, s - 1);
            if (delayed)
                add(PassKind::kWeightGradient, s);
            add(PassKind::kUpdate, s);
        }
        const WeightTimeline timeline(repeated(step, task.steps, now));
        EXPECT_EQ(trained(task, WeightPolicy::kLatest, timeline).digest, batch) << delayed;
    }
}

TEST(AsynchronousSchedules, OfOneStageTrainTheSameBits) {
    const Task task = small_task();
    const TrainingRun sequential =
        trained(task, WeightPolicy::kLatest, timeline_of("gpipe", 1, 1, task.steps));
    for (const WeightPolicy policy :
         {WeightPolicy::kLatest, WeightPolicy::kStash, WeightPolicy::kVerticalSync,
          WeightPolicy::kPredict, WeightPolicy::kPredictOnce, WeightPolicy::kPipeMare}) {
        const TrainingRun run = trained(task, policy, timeline_of("1f1b_async", 1, 1, task.steps));
        EXPECT_EQ(run.digest, sequential.digest) << static_cast<int>(policy);
    }
}

/// w(t + 1) = w(t) - rate g(w(t - 1)), checked by hand with one piece per stage.
TEST(DoubleBuffered, UsesTheVersionBeforeInBothPasses) {
    Task task = small_task();
    const WeightTimeline timeline = timeline_of("1f1b_double_buffered", 4, 4, task.steps);
    const TrainingRun run = trained(task, WeightPolicy::kDoubleBuffered, timeline);
    for (const VersionUse& use : run.versions) {
        const std::uint32_t step = use.micro_batch / 4;
        EXPECT_EQ(use.version, step == 0 ? 0 : step - 1);
    }
    for (const StageRun& stage : run.stages)
        EXPECT_LE(stage.most_copies, 2U);
}

TEST(Policies, ReadTheVersionsThatTheyPromise) {
    Task task = small_task();
    task.steps = 24;
    const WeightTimeline timeline = timeline_of("1f1b_async", 4, 1, task.steps);
    const auto steady = [](const VersionUse& use) {
        return use.micro_batch >= 8 && use.micro_batch < 16;
    };
    const auto check = [&](WeightPolicy policy, auto expect) {
        const TrainingRun run = trained(task, policy, timeline);
        int checked = 0;
        for (const VersionUse& use : run.versions)
            if (steady(use)) {
                expect(use, 3 - use.stage);
                ++checked;
            }
        EXPECT_EQ(checked, 8 * 4 * 2);
        return run;
    };
    const TrainingRun latest =
        check(WeightPolicy::kLatest, [](const VersionUse& use, std::uint32_t missed) {
            EXPECT_EQ(use.version, use.micro_batch - (use.forward ? missed : 0));
            EXPECT_EQ(use.batch_order, use.micro_batch);
        });
    const TrainingRun stash =
        check(WeightPolicy::kStash, [](const VersionUse& use, std::uint32_t missed) {
            EXPECT_EQ(use.version, use.micro_batch - missed);
        });
    const TrainingRun vertical =
        check(WeightPolicy::kVerticalSync, [](const VersionUse& use, std::uint32_t) {
            EXPECT_EQ(use.version, use.micro_batch - 3);
        });
    check(WeightPolicy::kPredictOnce, [](const VersionUse& use, std::uint32_t missed) {
        EXPECT_EQ(use.version + use.ahead, use.micro_batch);
        EXPECT_EQ(use.ahead, missed);
    });
    check(WeightPolicy::kPredict, [](const VersionUse& use, std::uint32_t missed) {
        EXPECT_EQ(use.ahead, use.stage / 2 + (use.forward ? missed : 0));
    });
    for (std::uint32_t s = 0; s < 4; ++s) {
        EXPECT_EQ(latest.stages[s].most_copies, 1U);
        EXPECT_EQ(stash.stages[s].most_copies, 4 - s);
        EXPECT_EQ(stash.stages[s].forward_missed, 3 - s);
        EXPECT_EQ(stash.stages[s].backward_missed, 3 - s);
        EXPECT_EQ(latest.stages[s].backward_missed, 0);
        EXPECT_EQ(latest.stages[s].between, 3 - s);
        EXPECT_EQ(vertical.stages[s].forward_missed, 3);
    }
}

TEST(Policies, PredictWhatTheTimelineShows) {
    Task task = small_task();
    task.steps = 24;
    task.ahead = Ahead::kTimeline;
    const WeightTimeline timeline = timeline_of("1f1b_async", 4, 1, task.steps);
    for (const VersionUse& use : trained(task, WeightPolicy::kPredict, timeline).versions)
        EXPECT_EQ(use.version + use.ahead, use.at_round_trip);
    for (const VersionUse& use : trained(task, WeightPolicy::kPredictOnce, timeline).versions)
        EXPECT_EQ(use.version + use.ahead, use.batch_order);
}

TEST(Policies, DifferAndLearn) {
    Task task = small_task();
    task.steps = 300;
    task.evaluate_every = 50;
    task.optimizer.rate = 0.05;
    const WeightTimeline timeline = timeline_of("1f1b_async", 4, 1, task.steps);
    std::vector<std::uint64_t> digests;
    for (const WeightPolicy policy :
         {WeightPolicy::kLatest, WeightPolicy::kStash, WeightPolicy::kVerticalSync,
          WeightPolicy::kPredict, WeightPolicy::kPredictOnce, WeightPolicy::kPipeMare,
          WeightPolicy::kXpipe}) {
        const TrainingRun run = trained(task, policy, timeline);
        EXPECT_FALSE(run.diverged) << static_cast<int>(policy);
        EXPECT_LT(run.losses.back().loss, 0.6 * run.losses.front().loss)
            << static_cast<int>(policy);
        for (const std::uint64_t other : digests)
            EXPECT_NE(run.digest, other);
        digests.push_back(run.digest);
    }
}

/// The result must be bit-identical on every machine.
TEST(Training, OfAShortRunEndsWithTheseBits) {
    Task task = small_task();
    task.optimizer.rule = OptimizerRule::kAdamW;
    task.optimizer.rate = 0.01;
    task.optimizer.decay = 0.01;
    task.network.kind = NetworkKind::kTransformer;
    const WeightTimeline timeline = timeline_of("1f1b_async", 4, 1, task.steps);
    EXPECT_EQ(trained(task, WeightPolicy::kPredictOnce, timeline).digest, 0x9826538be6f49a79ULL);
    task.network.kind = NetworkKind::kResidual;
    task.data.kind = DataKind::kSpirals;
    EXPECT_EQ(trained(task, WeightPolicy::kPipeMare, timeline).digest, 0x2e0ecd66fee7ea1ULL);
}

TEST(Training, ThatDivergesSaysAtWhichStep) {
    Task task = small_task();
    task.steps = 200;
    task.optimizer.rate = 1e6;
    task.network.kind = NetworkKind::kResidual;
    const TrainingRun run =
        trained(task, WeightPolicy::kLatest, timeline_of("1f1b_async", 4, 1, task.steps));
    ASSERT_TRUE(run.diverged.has_value());
    EXPECT_LT(run.diverged->step, 200U);
    EXPECT_FALSE(reached(run, 1e-3));
}

TEST(Training, RefusesWhatDoesNotFit) {
    Task task = small_task();
    task.network.depth = 3;
    task.batch = 4;
    const auto problems = problems_of(task, 4, 8);
    ASSERT_EQ(problems.size(), 2U);
    EXPECT_EQ(problems[0].pointer, "/network/depth");
    EXPECT_EQ(problems[1].pointer, "/batch");
    task = small_task();
    task.network.kind = NetworkKind::kQuadratic;
    EXPECT_EQ(problems_of(task, 4, 1).at(0).pointer, "/data/type");
    task.network.kind = NetworkKind::kTransformer;
    task.network.heads = 3;
    task.network.tokens = 3;
    ASSERT_EQ(problems_of(task, 4, 1).size(), 2U);
    EXPECT_EQ(problems_of(task, 4, 1)[0].pointer, "/network/heads");
    EXPECT_EQ(problems_of(task, 4, 1)[1].pointer, "/network/tokens");
}

}  // namespace
}  // namespace switchfold::learning::schedules_learn_test
