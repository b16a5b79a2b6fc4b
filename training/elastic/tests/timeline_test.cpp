// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/timeline.h"

#include "core/random_stream.h"

#include <gtest/gtest.h>

namespace switchfold::elastic::timeline_test {
namespace {

constexpr Time ms(std::uint64_t value) {
    return Time(1'000'000'000) * value;
}

TimedChange change_at(Time time, Time beside, Time pause) {
    TimedChange change;
    change.at.time = time;
    change.phases = {{"beside", beside, true}, {"pause", pause}};
    return change;
}

TEST(RunTimeline, StepsRepeatUntilTheEnd) {
    const RunTimeline run = compose_run({{ms(300), 32, 4}}, {}, {10, {}});
    EXPECT_EQ(run.end, ms(3000));
    EXPECT_EQ(run.samples, 320U);
    EXPECT_DOUBLE_EQ(run.share_of_training(), 1);
    EXPECT_DOUBLE_EQ(run.gpu_seconds_held, 12);
    // A run limited by time ends in the middle of a step, which does not count.
    const RunTimeline timed = compose_run({{ms(300), 32, 4}}, {}, {0, ms(1000)});
    EXPECT_EQ(timed.steps, 3U);
    EXPECT_EQ(timed.end, ms(1000));
    EXPECT_DOUBLE_EQ(timed.share_of_training(), 0.9);
}

TEST(RunTimeline, MembersTrainToTheBoundaryBehindWhatRunsBeside) {
    TimedChange grow = change_at(ms(1000), ms(500), ms(100));
    grow.added = 2;
    const RunTimeline run = compose_run({{ms(400), 8, 2}, {ms(200), 8, 4}}, {grow}, {0, ms(3000)});
    const ChangeOutcome& c = run.changes.at(0);
    EXPECT_EQ(c.stopped, ms(1600));
    EXPECT_EQ(c.resumed, ms(1700));
    EXPECT_EQ(c.pause, ms(100));
    EXPECT_EQ(c.to_size(), ms(700));
    // Two members are idle for 0.1 s, and two joiners are held for 0.7 s.
    EXPECT_NEAR(c.gpu_seconds, 0.2 + 1.4, 1e-12);
    EXPECT_EQ(run.steps, 4U + 6U);
    EXPECT_NEAR(run.gpu_seconds_held, 2 * 1.7 + 4 * 1.3 + 1.4, 1e-12);
}

TEST(RunTimeline, AChangeAtAStepComesAfterIt) {
    TimedChange shrink = change_at({}, {}, ms(50));
    shrink.at.step = 5;
    shrink.removed = 1;
    const RunTimeline run = compose_run({{ms(100), 8, 2}, {ms(200), 8, 1}}, {shrink}, {7, {}});
    EXPECT_EQ(run.changes.at(0).stopped, ms(500));
    EXPECT_EQ(run.end, ms(500 + 50 + 400));
    EXPECT_NEAR(run.changes.at(0).gpu_seconds, 0.05, 1e-12);
}

TEST(RunTimeline, TheJoiningStepCountsAndItsWaitIsThePause) {
    TimedChange join = change_at(ms(1000), ms(0), ms(5));
    join.joining = JoiningStep{ms(130), ms(100), ms(80), ms(100), ms(20)};
    join.added = 1;
    const RunTimeline run = compose_run({{ms(100), 8, 2}, {ms(100), 9, 3}}, {join}, {20, {}});
    const ChangeOutcome& c = run.changes.at(0);
    EXPECT_FALSE(join.joining->fits());
    EXPECT_EQ(c.pause, ms(25));
    EXPECT_EQ(c.slowdown, ms(10));
    EXPECT_EQ(c.resumed, ms(1000 + 130 + 5));
    EXPECT_EQ(run.steps, 20U);
    EXPECT_EQ(run.samples, 11U * 8 + 9U * 9);
}

TEST(RunTimeline, AFailureLosesTheStepUnderWay) {
    TimedChange gone = change_at(ms(1030), {}, ms(600));
    gone.died = true;
    gone.removed = 1;
    const RunTimeline run = compose_run({{ms(100), 8, 2}, {ms(200), 8, 1}}, {gone}, {0, ms(2000)});
    const ChangeOutcome& c = run.changes.at(0);
    EXPECT_EQ(c.lost, ms(30));
    EXPECT_EQ(c.lost_steps, 0U);
    EXPECT_EQ(c.stopped, ms(1030));
    EXPECT_EQ(run.steps, 10U + 1U);
}

TEST(RunTimeline, ARestartAfterAFailureGoesBackToTheLastWrittenCheckpoint) {
    TimedChange gone = change_at(ms(1990), {}, ms(500));
    gone.died = gone.from_checkpoint = true;
    gone.removed = gone.added = 1;
    const Checkpoints checkpoints{ms(500), true};
    Pace pace{ms(100), 8, 2};
    pace.copies = CheckpointStep{ms(200), ms(90), ms(190), ms(100), ms(400)};
    RunTimeline run = compose_run({pace, pace}, {gone}, {0, ms(3000)}, checkpoints);
    // Checkpoint steps begin at 500 and 1200 ms; the third begins at 1900 ms and is lost. Until
    // 1990 ms the run trains 5 + 1 + 5 + 1 + 5 steps and another 90 ms. The second checkpoint holds
    // 11 steps.
    EXPECT_EQ(run.changes.at(0).lost_steps, 6U);
    EXPECT_EQ(run.changes.at(0).lost, ms(690));
    // The run writes one more checkpoint after the restart.
    EXPECT_EQ(run.checkpoints_written, 3U);
    EXPECT_EQ(run.checkpoints, ms(300));
    EXPECT_EQ(run.storage, Time());
    // A write now takes 800 ms. The second one waits for the first until 1300 ms and is not
    // complete at the failure.
    pace.copies->written = ms(800);
    run = compose_run({pace, pace}, {gone}, {0, ms(3000)}, checkpoints);
    EXPECT_EQ(run.storage, ms(100));
    EXPECT_EQ(run.changes.at(0).lost_steps, 5U + 1 + 5 + 1 - 5 + 4);
}

TEST(RunTimeline, AStepThatCopiesCountsAndASaveWaitsForTheStorage) {
    Pace pace{ms(100), 8, 2};
    pace.copies = CheckpointStep{ms(130), ms(90), ms(110), ms(20), ms(600)};
    TimedChange restart = change_at(ms(650), {}, ms(50));
    restart.saves = true;
    const RunTimeline run = compose_run({pace, pace}, {restart}, {0, ms(2000)}, {ms(500), true});
    // Five steps, then one with the copy until 630 ms and one until 730 ms. The storage is free at
    // 1100 ms.
    const ChangeOutcome& c = run.changes.at(0);
    EXPECT_EQ(c.stopped, ms(730));
    EXPECT_EQ(c.storage, ms(370));
    EXPECT_EQ(c.pause, ms(420));
    EXPECT_EQ(run.checkpoints, ms(2 * 30));
    EXPECT_EQ(run.stretches.at(1).kind, StretchKind::kCheckpointStep);
    EXPECT_EQ(run.stretches.at(1).steps, 1U);
    EXPECT_EQ(run.steps, 7U + 5U + 1U + 2U);  // next checkpoint step at 1650 ms
}

TEST(RunTimeline, MembersWaitUntilACheckpointIsWritten) {
    Pace pace{ms(100), 8, 2};
    pace.write = ms(250);
    const RunTimeline run = compose_run({pace}, {}, {10, {}}, {ms(400), false});
    EXPECT_EQ(run.end, ms(1000 + 2 * 250));
    EXPECT_EQ(run.checkpoints, ms(500));
    EXPECT_EQ(run.checkpoints_written, 2U);
}

TEST(RunTimeline, ChangesQueueUp) {
    const TimedChange first = change_at(ms(100), {}, ms(1000));
    const TimedChange second = change_at(ms(300), {}, ms(10));
    const RunTimeline run = compose_run(
        {{ms(100), 8, 2}, {ms(100), 8, 2}, {ms(100), 8, 2}}, {first, second}, {0, ms(2000)});
    EXPECT_EQ(run.changes.at(1).late, ms(800));
    EXPECT_EQ(run.changes.at(1).stopped, ms(1100));
}

TEST(RunTimeline, AChangeThatTheRunDoesNotReachSaysSo) {
    const RunTimeline run =
        compose_run({{ms(100), 8, 2}, {ms(100), 8, 2}}, {change_at(ms(5000), {}, ms(1))}, {10, {}});
    EXPECT_FALSE(run.changes.at(0).reached);
    EXPECT_EQ(run.steps, 10U);
}

/// For random runs, the stretches follow each other without gaps, and the run's steps are those of
/// the stretches minus the lost ones.
TEST(RunTimeline, NothingIsLostOrCountedTwice) {
    RandomStream random(7, "runs");
    for (int round = 0; round < 200; ++round) {
        const auto pace = [&] {
            Pace p{ms(1 + random.below(300)), 1 + random.below(64), 8};
            p.write = ms(random.below(50));
            p.copies = CheckpointStep{};
            p.copies->step = p.step + ms(random.below(50));
            p.copies->written = p.copies->step + ms(random.below(900));
            return p;
        };
        std::vector<Pace> paces{pace()};
        std::vector<TimedChange> changes;
        Time time;
        for (std::uint64_t i = 0; i < random.below(8); ++i) {
            time += ms(random.below(3000));
            TimedChange change = change_at(time, ms(random.below(2000)), ms(random.below(500)));
            change.died = random.below(3) == 0;
            change.from_checkpoint = change.died && random.below(2) == 0;
            changes.push_back(change);
            change.saves = !change.died && random.below(2) == 0;
            paces.push_back(pace());
        }
        Checkpoints checkpoints;
        if (random.below(2) == 0)
            checkpoints = {ms(1 + random.below(900)), random.below(2) == 0};
        const RunTimeline run = compose_run(paces, changes, {0, ms(20'000)}, checkpoints);
        Time at;
        std::uint64_t steps = 0;
        for (const Stretch& stretch : run.stretches) {
            EXPECT_EQ(stretch.begin, at);
            EXPECT_LT(stretch.begin, stretch.end);
            at = stretch.end;
            steps += stretch.steps;
        }
        EXPECT_EQ(at, ms(20'000));
        for (const ChangeOutcome& change : run.changes)
            steps -= change.lost_steps;
        EXPECT_EQ(steps, run.steps);
        EXPECT_LE(run.trained + run.checkpoints + run.paused, run.end);
        EXPECT_LE(run.storage, run.checkpoints);
        EXPECT_EQ(run.changes.size(), changes.size());
    }
}

}  // namespace
}  // namespace switchfold::elastic::timeline_test
