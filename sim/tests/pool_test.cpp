// SPDX-License-Identifier: Apache-2.0
#include "sim/pool/pool.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <new>
#include <set>
#include <thread>

#include <unistd.h>

namespace switchfold::pool_test {
namespace {

TEST(Pool, EachJobEndsOnceWithItsOwnBytes) {
    std::vector<Job> jobs;
    for (int i = 0; i < 7; ++i)
        jobs.push_back({fmt::format("job {}", i), [i](const JobProgress&) {
                            return std::string(static_cast<std::size_t>(i) * 50'000, 'a');
                        }});
    std::vector<int> ended(jobs.size(), 0);
    run_jobs(jobs, 3, {}, [&](std::size_t job, JobResult result) {
        ++ended[job];
        EXPECT_EQ(result.code, ExitCode::kDone);
        EXPECT_EQ(result.bytes, std::string(job * 50'000, 'a'));
    });
    EXPECT_EQ(ended, std::vector<int>(jobs.size(), 1));
}

TEST(Pool, AFailedJobLeavesTheOthersAlone) {
    const std::vector<Job> jobs{
        {"dies",
         [](const JobProgress&) -> std::string {
             std::raise(SIGKILL);
             return "never";
         }},
        {"stuck",
         [](const JobProgress&) -> std::string {
             throw SimulationError("link", Time(1), "no credit");
         }},
        {"wrong",
         [](const JobProgress&) -> std::string { throw ConfigError("a.json", "/x", "is wrong"); }},
        {"right", [](const JobProgress&) { return std::string("right"); }}};
    std::vector<JobResult> results(jobs.size());
    run_jobs(jobs, 2, {}, [&](std::size_t job, JobResult r) { results[job] = std::move(r); });
    EXPECT_EQ(results[0].code, ExitCode::kUnfinished);
    EXPECT_NE(results[0].error.find("signal 9"), std::string::npos);
    EXPECT_EQ(results[1].code, ExitCode::kUnfinished);
    EXPECT_EQ(results[1].error, "link at 1 ps: no credit");
    EXPECT_EQ(results[2].code, ExitCode::kBadInput);
    EXPECT_EQ(results[3].code, ExitCode::kDone);
    EXPECT_EQ(results[3].bytes, "right");
    EXPECT_THROW(rethrow(jobs[2], results[2]), ConfigError);
}

TEST(Pool, AReusedWorkerRunsOneJobAfterAnotherAndIsReplacedWhenItDies) {
    std::vector<Job> jobs;
    for (int i = 0; i < 40; ++i)
        jobs.push_back({"job", [i](const JobProgress&) {
                            if (i == 20)
                                std::raise(SIGKILL);
                            return fmt::format("{}", ::getpid());
                        }});
    std::set<std::string> workers;
    std::size_t failed = 0;
    std::vector<int> ended(jobs.size(), 0);
    run_jobs(jobs, {2, true, 0}, {}, [&](std::size_t job, JobResult result) {
        ++ended[job];
        if (result.code == ExitCode::kDone)
            workers.insert(result.bytes);
        else
            ++failed;
    });
    EXPECT_EQ(ended, std::vector<int>(jobs.size(), 1));
    EXPECT_EQ(failed, 1U);
    EXPECT_LE(workers.size(), 3U);
}

TEST(Pool, AJobThatNeedsMoreMemoryThanItMayFailsAlone) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "AddressSanitizer's memory cannot be limited";
#endif
    constexpr std::uint64_t kLimit = 64U << 20U;
    const std::vector<Job> jobs{
        {"greedy",
         [](const JobProgress&) {
             const std::vector<char> much(4 * kLimit, 'x');
             return std::string(much.begin(), much.begin() + 1);
         }},
        {"modest", [](const JobProgress&) { return std::string("x"); }}};
    std::vector<JobResult> results(jobs.size());
    run_jobs(jobs, {1, true, kLimit}, {}, [&](std::size_t job, JobResult r) {
        results[job] = std::move(r);
    });
    EXPECT_EQ(results[0].code, ExitCode::kUnfinished);
    EXPECT_EQ(results[0].error, "needs more than the 64 MiB that it may have");
    EXPECT_EQ(results[1].bytes, "x");
}

TEST(Pool, AJobThatTakesMoreProcessorTimeThanItMayFailsAlone) {
    const std::vector<Job> jobs{
        {"spins",
         [](const JobProgress&) -> std::string {
             const auto end = std::chrono::steady_clock::now() + std::chrono::hours(1);
             while (std::chrono::steady_clock::now() < end) {
             }
             return "never";
         }},
        {"waits",
         [](const JobProgress&) -> std::string {
             std::this_thread::sleep_for(std::chrono::milliseconds(1200));
             return "done";
         }},
        {"dies", [](const JobProgress&) -> std::string {
             std::raise(SIGKILL);
             return "never";
         }}};
    std::vector<JobResult> results(jobs.size());
    PoolOptions options;
    options.processes = 3;
    options.most_seconds = 1;
    run_jobs(jobs, options, {}, [&](std::size_t job, const JobResult& result) {
        results[job] = result;
    });
    EXPECT_EQ(results[0].code, ExitCode::kUnfinished);
    EXPECT_TRUE(results[0].out_of_time);
    EXPECT_EQ(results[0].error, "did not end in 1 s of processor time");
    EXPECT_EQ(results[1].bytes, "done") << "a wait takes none";
    EXPECT_FALSE(results[2].out_of_time);
    EXPECT_NE(results[2].error.find("signal 9"), std::string::npos);
}

TEST(Pool, WhatTheCallerThrowsEndsEverything) {
    const std::vector<Job> jobs(4, Job{"job", [](const JobProgress&) { return std::string("x"); }});
    int ended = 0;
    EXPECT_THROW(
        run_jobs(
            jobs, 1, {},
            [&](std::size_t, JobResult) {
                ++ended;
                throw std::runtime_error("disk full");
            }),
        std::runtime_error);
    EXPECT_EQ(ended, 1);
}

TEST(Pool, AFailureThatTheCallerRethrowsEndsTheOthers) {
    const auto start = std::chrono::steady_clock::now();
    const std::vector<Job> jobs{
        {"sleeps",
         [](const JobProgress&) {
             std::this_thread::sleep_for(std::chrono::seconds(600));
             return std::string("late");
         }},
        {"stuck", [](const JobProgress&) -> std::string {
             throw SimulationError("gpu0", Time(1), "stuck");
         }}};
    EXPECT_THROW(
        run_jobs(
            jobs, 2, {},
            [&](std::size_t job, const JobResult& result) { rethrow(jobs[job], result); }),
        SimulationError);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(120));
}

/// Message of the exception that rethrow() throws for the failed job "ring".
template <class Error>
std::string what_of(const JobResult& result) {
    try {
        rethrow({"ring", {}}, result);
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(Pool, ErrorsAreRethrownWithTheirTypeAndSayWhose) {
    EXPECT_EQ(
        what_of<SimulationError>({"", ExitCode::kUnfinished, "link3 at 5 ps: no credit"}),
        "ring: link3 at 5 ps: no credit");
    const auto config = what_of<ConfigError>({"", ExitCode::kBadInput, "a.json: /x: is wrong"});
    EXPECT_TRUE(config.starts_with("ring: ")) << config;
    EXPECT_NE(config.find("a.json: /x: is wrong"), std::string::npos) << config;
    EXPECT_EQ(what_of<std::logic_error>({"", ExitCode::kInternal, "ours"}), "ring: ours");
}

TEST(Pool, ProgressRisesToTheWhole) {
    const std::vector<Job> jobs{
        {"long",
         [](const JobProgress& report) {
             for (int i = 0; i < 6; ++i) {
                 std::this_thread::sleep_for(std::chrono::milliseconds(60));
                 report(i / 6.0, 100);
             }
             report(1, 600);
             return std::string();
         }},
        {"short", [](const JobProgress& report) {
             report(1, 1);
             return std::string();
         }}};
    std::vector<double> shares;
    std::uint64_t events = 0;
    run_jobs(
        jobs, 2,
        [&](const WorkerProgress& p) {
            shares.push_back(p.share);
            events = p.events;
        },
        [](std::size_t, const JobResult&) {});
    ASSERT_GE(shares.size(), 3U);
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    EXPECT_DOUBLE_EQ(shares.back(), 1.0);
    EXPECT_EQ(events, 601U);
}

TEST(JobsHere, RunInOrderInThisProcessAndAddUpTheirProgress) {
    std::vector<Job> jobs;
    for (std::uint64_t i = 0; i < 4; ++i)
        jobs.push_back({"job", [i](const JobProgress& report) {
                            report(0.5, 10 * i);
                            return fmt::format("{} {}", i, ::getpid());
                        }});
    std::vector<double> shares;
    std::vector<std::uint64_t> events;
    std::vector<std::string> ended;
    run_jobs_here(
        jobs,
        [&](const WorkerProgress& p) {
            shares.push_back(p.share);
            events.push_back(p.events);
        },
        [&](std::size_t job, const JobResult& result) {
            EXPECT_EQ(job, ended.size());
            ended.push_back(result.bytes);
        });
    EXPECT_EQ(shares, (std::vector<double>{0.125, 0.375, 0.625, 0.875}));
    EXPECT_EQ(events, (std::vector<std::uint64_t>{0, 10, 30, 60}));
    EXPECT_EQ(ended.back(), fmt::format("3 {}", ::getpid()));
}

TEST(JobsHere, AnErrorIsAResultAndLackOfMemoryIsNot) {
    const std::vector<Job> stuck{{"stuck", [](const JobProgress&) -> std::string {
                                      throw SimulationError("link", Time(1), "no credit");
                                  }}};
    JobResult result;
    run_jobs_here(stuck, {}, [&](std::size_t, JobResult r) { result = std::move(r); });
    EXPECT_EQ(result.code, ExitCode::kUnfinished);
    EXPECT_EQ(result.error, "link at 1 ps: no credit");
    const std::vector<Job> greedy{
        {"greedy", [](const JobProgress&) -> std::string { throw std::bad_alloc(); }}};
    EXPECT_THROW(run_jobs_here(greedy, {}, [](std::size_t, JobResult) {}), std::bad_alloc);
}

}  // namespace
}  // namespace switchfold::pool_test
