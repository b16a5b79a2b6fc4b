// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/kernel/simulation.h"
#include "core/kernel/world_clock.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace switchfold::scheduler_test {
namespace {

struct Recorder : EventHandler {
    explicit Recorder(Scheduler& s) : scheduler(s) {}
    void on_event(std::uint64_t tag) override { seen.emplace_back(scheduler.now().count(), tag); }
    Scheduler& scheduler;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
};

RC_GTEST_PROP(SchedulerProperty, RunsInTimeOrderAndKeepsTheOrderOfPosting, ()) {
    const auto times = *rc::gen::container<std::vector<std::uint64_t>>(
        rc::gen::inRange<std::uint64_t>(0, 50'000'000));
    Simulation simulation;
    Recorder recorder(simulation.scheduler());
    std::vector<std::pair<std::uint64_t, std::uint64_t>> expected;
    for (std::size_t i = 0; i < times.size(); ++i) {
        simulation.scheduler().at(Time(times[i]), recorder, i);
        expected.emplace_back(times[i], i);
    }
    std::stable_sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) {
        return a.first < b.first;
    });
    const bool sliced = *rc::gen::arbitrary<bool>();
    const Time end = simulation.run(
        sliced ? Simulation::Progress([](Time, std::uint64_t) { return true; })
               : Simulation::Progress());
    RC_ASSERT(recorder.seen == expected);
    RC_ASSERT(end == Time(expected.empty() ? 0 : expected.back().first));
}

struct Chain : EventHandler {
    explicit Chain(Scheduler& s) : scheduler(s) {}
    void on_event(std::uint64_t tag) override {
        if (tag > 0)
            scheduler.after(nanoseconds(1), *this, tag - 1);
    }
    Scheduler& scheduler;
};

TEST(Scheduler, HundredsOfSimulationsInOneProcess) {
    for (int i = 0; i < 300; ++i) {
        Simulation simulation;
        Chain chain(simulation.scheduler());
        simulation.scheduler().at(Time(0), chain, 100);
        EXPECT_EQ(simulation.run(), nanoseconds(100));
    }
}

/// A SystemC process that runs beside the scheduler; the two must interleave in time.
struct Bench : sc_core::sc_module {
    Bench(const sc_core::sc_module_name& name, Recorder& r) : sc_module(name), recorder(r) {
        SC_HAS_PROCESS(Bench);
        SC_THREAD(body);
    }
    void body() {
        for (int i = 0; i < 5; ++i) {
            wait(sc_core::sc_time(10, sc_core::SC_NS));
            recorder.seen.emplace_back(sc_core::sc_time_stamp().value(), 999);
            recorder.scheduler.after(nanoseconds(3), recorder, 7);
        }
    }
    Recorder& recorder;
};

TEST(Scheduler, InterleavesWithForeignProcesses) {
    Simulation simulation;
    Recorder recorder(simulation.scheduler());
    Bench bench("bench", recorder);
    for (std::uint64_t ns = 1; ns < 60; ns += 2)
        simulation.scheduler().at(nanoseconds(ns), recorder, ns);
    simulation.run();
    EXPECT_TRUE(std::is_sorted(recorder.seen.begin(), recorder.seen.end(), [](auto a, auto b) {
        return a.first < b.first;
    }));
    EXPECT_EQ(recorder.seen.size(), 30U + 10U);
}

struct Thrower : EventHandler {
    void on_event(std::uint64_t) override {
        throw SimulationError("switch0", nanoseconds(5), "no");
    }
};

TEST(Scheduler, AnErrorKeepsItsTypeAcrossTheKernel) {
    for (int i = 0; i < 3; ++i) {
        Simulation simulation;
        Thrower thrower;
        simulation.scheduler().at(nanoseconds(5), thrower, 0);
        try {
            simulation.run();
            FAIL() << "nothing thrown";
        } catch (const SimulationError& error) {
            EXPECT_EQ(error.component(), "switch0");
        }
    }
}

TEST(Scheduler, TheProgressHookCanStopARun) {
    Simulation simulation;
    Chain chain(simulation.scheduler());
    simulation.scheduler().at(Time(0), chain, 1'000'000);
    int calls = 0;
    simulation.run([&](Time, std::uint64_t) { return ++calls < 3; });
    EXPECT_EQ(calls, 3);
    EXPECT_FALSE(simulation.scheduler().empty());
}

struct Spinner : EventHandler {
    explicit Spinner(Scheduler& s) : scheduler(s) {}
    void on_event(std::uint64_t) override { scheduler.after(Time(0), *this, 0); }
    Scheduler& scheduler;
};

TEST(Scheduler, ALoopWithoutDelayIsReported) {
    Simulation simulation;
    Spinner spinner(simulation.scheduler());
    simulation.scheduler().at(Time(0), spinner, 0);
    EXPECT_THROW(simulation.run(), SimulationError);
}

/// A motion with a period of 10 ns; at its third event it skips up to `most` periods.
struct Repeating : EventHandler {
    explicit Repeating(Scheduler& s) : scheduler(s), clock(s) {}
    void on_event(std::uint64_t tag) override {
        seen.push_back(clock.now());
        if (seen.size() == 3)
            skipped = scheduler.skip(nanoseconds(10), most, undisturbed).count() / 10'000;
        if (tag > skipped)
            scheduler.after(nanoseconds(10), *this, tag - 1);
    }
    Scheduler& scheduler;
    WorldClock clock;
    std::function<bool()> undisturbed = [] { return true; };
    std::uint64_t most = 0;
    std::uint64_t skipped = 0;
    std::vector<Time> seen;
};

/// An event outside the motion, posted in WorldClock time; skipping stops at it.
struct Outside : EventHandler {
    explicit Outside(Scheduler& s) : clock(s) {}
    void on_event(std::uint64_t) override { seen.push_back(clock.now()); }
    [[nodiscard]] InSkip in_skip() const override { return InSkip::kEnds; }
    WorldClock clock;
    std::vector<Time> seen;
};

TEST(Scheduler, WhatIsLeftOutPassesForTheWorldAlone) {
    Simulation simulation;
    Scheduler& scheduler = simulation.scheduler();
    Repeating motion(scheduler);
    motion.most = 90;
    scheduler.at(nanoseconds(10), motion, 99);
    const Time end = simulation.run();
    EXPECT_EQ(motion.skipped, 90U);
    EXPECT_EQ(scheduler.skipped(), nanoseconds(900));
    // 100 periods take as long as if none had been skipped, although only 10 events ran.
    EXPECT_EQ(end, nanoseconds(1000));
    EXPECT_EQ(motion.seen.size(), 10U);
    EXPECT_EQ(motion.seen.back(), nanoseconds(1000));
}

/// Recurs every 33 ns of WorldClock time, independent of the motion.
struct Beside : EventHandler {
    explicit Beside(Scheduler& s) : clock(s) {}
    void on_event(std::uint64_t tag) override {
        seen.push_back(clock.now());
        if (tag > 0)
            clock.after(nanoseconds(33), *this, tag - 1);
        if (tag == wakes_at)
            wakes->scheduler.after(nanoseconds(1), *wakes, 0);
    }
    [[nodiscard]] InSkip in_skip() const override { return InSkip::kPasses; }
    WorldClock clock;
    std::vector<Time> seen;
    Repeating* wakes = nullptr;
    std::uint64_t wakes_at = UINT64_MAX;
};

TEST(Scheduler, WhatPassesBesideAMotionComesAtItsTimes) {
    Simulation simulation;
    Scheduler& scheduler = simulation.scheduler();
    Repeating motion(scheduler);
    motion.most = 90;
    scheduler.at(nanoseconds(10), motion, 99);
    Beside beside(scheduler);
    beside.clock.at(nanoseconds(5), beside, 20);
    EXPECT_EQ(simulation.run(), nanoseconds(1000));
    EXPECT_EQ(motion.skipped, 90U);
    ASSERT_EQ(beside.seen.size(), 21U);
    for (std::size_t i = 0; i < beside.seen.size(); ++i)
        EXPECT_EQ(beside.seen[i], nanoseconds(5 + 33 * i));
}

TEST(Scheduler, WhatDisturbsAMotionEndsAJumpAtItsTime) {
    for (const bool wakes : {false, true}) {
        Simulation simulation;
        Scheduler& scheduler = simulation.scheduler();
        Repeating motion(scheduler);
        motion.most = 90;
        scheduler.at(nanoseconds(10), motion, 99);
        Beside beside(scheduler);
        beside.clock.at(nanoseconds(5), beside, 20);
        if (wakes) {
            beside.wakes = &motion;
            beside.wakes_at = 15;
        } else {
            motion.undisturbed = [&] { return beside.seen.size() < 6; };
        }
        simulation.run();
        // Skipping ends at the sixth event of `beside`, at 5 + 5 x 33 ns.
        EXPECT_EQ(scheduler.skipped(), nanoseconds(170 - 30));
    }
}

RC_GTEST_PROP(SchedulerProperty, TheNextEventOfTheWorldEndsAJump, ()) {
    const auto due = *rc::gen::inRange<std::uint64_t>(31, 3000);
    const auto most = *rc::gen::inRange<std::uint64_t>(0, 300);
    Simulation simulation;
    Scheduler& scheduler = simulation.scheduler();
    Repeating motion(scheduler);
    motion.most = most;
    scheduler.at(nanoseconds(10), motion, 400);
    Outside outside(scheduler);
    outside.clock.at(nanoseconds(due), outside, 0);
    outside.clock.at(nanoseconds(due + 7), outside, 0);
    simulation.run();
    RC_ASSERT(motion.skipped == std::min<std::uint64_t>(most, (due - 30) / 10));
    RC_ASSERT(outside.seen == (std::vector<Time>{nanoseconds(due), nanoseconds(due + 7)}));
}

}  // namespace
}  // namespace switchfold::scheduler_test
