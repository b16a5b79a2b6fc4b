// SPDX-License-Identifier: Apache-2.0
#include "sim/run/pool/workers.h"

#include "sim/core/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

namespace switchfold {
namespace {

Task task(std::function<Outcome(const SimulateOptions&)> run) {
    Task t;
    t.label = "ring";
    t.run = std::move(run);
    return t;
}

Outcome outcome_of(std::uint64_t events) {
    Outcome outcome;
    outcome.events = events;
    return outcome;
}

template <class Error>
std::string what_of(const Task& t) {
    try {
        static_cast<void>(run_tasks(std::span(&t, 1), 1, {}));
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(Workers, OutcomesComeInTheOrderOfTheTasks) {
    std::vector<Task> tasks;
    for (std::uint64_t i = 0; i < 9; ++i)
        tasks.push_back(task([i](const SimulateOptions&) {
            // The first ones end last.
            std::this_thread::sleep_for(std::chrono::milliseconds(10 * (9 - i)));
            return outcome_of(i);
        }));
    for (const unsigned jobs : {1U, 4U, 100U}) {
        const std::vector<Outcome> outcomes = run_tasks(tasks, jobs, {});
        ASSERT_EQ(outcomes.size(), tasks.size());
        for (std::uint64_t i = 0; i < 9; ++i)
            EXPECT_EQ(outcomes[i].events, i);
    }
}

TEST(Workers, AnOutcomeLargerThanAPipeComesWhole) {
    const auto outcomes = run_tasks(
        std::vector<Task>{task([](const SimulateOptions&) {
            Outcome outcome;
            outcome.times.assign(3, std::vector<OperationTimes>(200'000, {Time(1), Time(2)}));
            return outcome;
        })},
        1,
        {});
    ASSERT_EQ(outcomes[0].times.size(), 3U);
    EXPECT_EQ(outcomes[0].times[2].size(), 200'000U);
    EXPECT_EQ(outcomes[0].times[2].back().end, Time(2));
}

TEST(Workers, ErrorsKeepTheirTypeAndSayWhose) {
    EXPECT_EQ(
        what_of<SimulationError>(task([](const SimulateOptions&) -> Outcome {
            throw SimulationError("link3", Time(5), "no credit came back");
        })),
        "ring: link3 at 5 ps: no credit came back");
    EXPECT_NE(
        what_of<ConfigError>(task([](const SimulateOptions&) -> Outcome {
            throw ConfigError("a.json", "/x", "is wrong; expected right");
        })).find("a.json: /x: is wrong; expected right"),
        std::string::npos);
    EXPECT_NE(
        what_of<std::logic_error>(task([](const SimulateOptions&) -> Outcome {
            SWITCHFOLD_CHECK(false, "ours");
            return {};
        })).find("ours"),
        std::string::npos);
}

TEST(Workers, AWorkerThatDiesIsAnUnfinishedSimulation) {
    const std::string what = what_of<SimulationError>(task([](const SimulateOptions&) -> Outcome {
        std::raise(SIGKILL);
        return {};
    }));
    EXPECT_NE(what.find("ring: "), std::string::npos) << what;
    EXPECT_NE(what.find("signal 9"), std::string::npos) << what;
}

TEST(Workers, OneFailureEndsTheOthers) {
    const auto start = std::chrono::steady_clock::now();
    const std::vector<Task> tasks{
        task([](const SimulateOptions&) {
            std::this_thread::sleep_for(std::chrono::seconds(60));
            return outcome_of(1);
        }),
        task([](const SimulateOptions&) -> Outcome {
            throw SimulationError("gpu0", Time(1), "stuck");
        })};
    EXPECT_THROW(static_cast<void>(run_tasks(tasks, 2, {})), SimulationError);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(Workers, ProgressRisesToTheWhole) {
    std::vector<double> shares;
    const std::vector<Task> tasks{
        task([](const SimulateOptions& options) {
            for (int i = 0; i < 6; ++i) {
                std::this_thread::sleep_for(std::chrono::milliseconds(60));
                options.progress(i / 6.0, 100);
            }
            return outcome_of(600);
        }),
        task([](const SimulateOptions&) { return outcome_of(1); })};
    std::uint64_t events = 0;
    static_cast<void>(run_tasks(tasks, 2, [&](const WorkerProgress& p) {
        shares.push_back(p.share);
        events = p.events;
    }));
    ASSERT_GE(shares.size(), 3U);
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    EXPECT_DOUBLE_EQ(shares.back(), 1.0);
    EXPECT_EQ(events, 601U);
}

TEST(Workers, NoTasksGiveNoOutcomes) {
    EXPECT_TRUE(run_tasks({}, 4, {}).empty());
}

}  // namespace
}  // namespace switchfold
