// SPDX-License-Identifier: Apache-2.0
#include "sim/run/pool/pool.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <set>

#include <unistd.h>

namespace switchfold {
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

TEST(Pool, WhatTheCallerThrowsEndsEverything) {
    const std::vector<Job> jobs(4, Job{"job", [](const JobProgress&) { return std::string("x"); }});
    int ended = 0;
    EXPECT_THROW(
        run_jobs(
            jobs,
            1,
            {},
            [&](std::size_t, JobResult) {
                ++ended;
                throw std::runtime_error("disk full");
            }),
        std::runtime_error);
    EXPECT_EQ(ended, 1);
}

}  // namespace
}  // namespace switchfold
