// SPDX-License-Identifier: Apache-2.0
#include "sim/describe_collectives.h"

#include "core/json.h"
#include "interconnect/topology_analysis.h"
#include "sim/config/load.h"
#include "sim/runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchfold::describe_collectives_test {
namespace {

SystemParams system_of(const std::string& name) {
    return load_system(fmt::format("{}/configs/systems/{}.json", SWITCHFOLD_SOURCE_DIR, name), {});
}

/// The only all-reduce of a run.
CollectiveResult ran(const std::string& system, std::uint64_t bytes) {
    const std::string text = fmt::format(
        R"({{"name": "one", "system": "../systems/{}.json",
             "workload": {{"type": "collective", "size": "{} B"}},
             "scenarios": [{{"name": "auto", "all_reduce": {{"algorithm": "auto"}}}}]}})",
        system, bytes);
    RunOptions options;
    options.in_process = true;
    const std::filesystem::path file = SWITCHFOLD_SOURCE_DIR "/configs/experiments/test.json";
    return run_experiment(load_experiment(Json::parse(text), file, {}), options)
        .scenarios.at(0)
        .collectives.at(0);
}

constexpr std::uint64_t kMany = 1'000'000'000;
constexpr std::uint64_t kKiB = 1024;

TEST(DescribedAllReduces, AreThoseOfARun) {
    for (const char* name : {"hgx_h100", "v100_pcie"}) {
        const std::vector<std::uint64_t> sizes{kKiB, 64 * kKiB, 1024 * kKiB};
        const auto described =
            describe_all_reduces(system_of(name), sizes, kMany, run_jobs_quietly);
        ASSERT_EQ(described.size(), sizes.size());
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const CollectiveResult run = ran(name, sizes[i]);
            EXPECT_EQ(described[i].bytes, sizes[i]);
            EXPECT_TRUE(described[i].simulated);
            EXPECT_EQ(described[i].time_us, run.time_us) << name << sizes[i];
            EXPECT_EQ(described[i].algorithm, run.algorithm);
            EXPECT_EQ(described[i].protocol, run.protocol);
            EXPECT_EQ(described[i].blocks, run.channels);
        }
    }
}

/// Ring and switch each have a bound on the bus bandwidth; every all-reduce has one on its time.
TEST(DescribedAllReduces, AreNotBelowTheirBounds) {
    for (const char* name : {"hgx_h100", "v100_pcie", "gb200_nvl72", "dgx_h100_ndr"}) {
        const SystemParams system = system_of(name);
        const Topology topology = build_topology(system.topology);
        const double gpus = topology.gpus();
        const auto unit = static_cast<std::uint32_t>(system.collectives->transfer_unit.count());
        const auto in_switch = static_cast<double>(in_switch_bound(topology, unit).count());
        for (const DescribedAllReduce& one :
             describe_all_reduces(system, {16 * 1024 * kKiB}, kMany, run_jobs_quietly)) {
            ASSERT_TRUE(one.simulated) << name << one.failure;
            EXPECT_GE(one.time_us, one.at_least_us) << name;
            const double bus =
                2 * (gpus - 1) / gpus * static_cast<double>(one.bytes) / one.time_us * 1e6;
            if (one.algorithm == "in_switch") {
                EXPECT_LE(bus, in_switch) << name;
            }
        }
    }
}

TEST(DescribedAllReduces, LongOnesAreABound) {
    const auto described =
        describe_all_reduces(system_of("v100_pcie"), {kKiB, 1024 * kKiB}, 20, run_jobs_quietly);
    for (const DescribedAllReduce& one : described) {
        EXPECT_FALSE(one.simulated);
        EXPECT_NE(one.algorithm, "");
        EXPECT_EQ(one.time_us, 0);
        EXPECT_GT(one.at_least_us, 0);
    }
}

/// The numbers of jobs that run() was given at a time.
std::vector<std::size_t> jobs_of(
    const std::string& system, const std::vector<std::uint64_t>& sizes, std::uint64_t most_events) {
    std::vector<std::size_t> jobs;
    const RunJobs counted = [&](std::span<const Job> all, const JobEnded& ended) {
        jobs.push_back(all.size());
        run_jobs_quietly(all, ended);
    };
    for (const DescribedAllReduce& one :
         describe_all_reduces(system_of(system), sizes, most_events, counted))
        EXPECT_NE(one.algorithm, "");
    return jobs;
}

TEST(DescribedAllReduces, OneMachineChoosesForAllAndSizesAreTriedInSteps) {
    EXPECT_EQ(
        jobs_of("v100_pcie", {kKiB, 2 * kKiB, 3 * kKiB, 4 * kKiB}, kMany),
        (std::vector<std::size_t>{1, 1, 2, 1}));
}

TEST(DescribedAllReduces, NoSizeIsBegunAfterOneOfItsKindThatWasTooLong) {
    EXPECT_EQ(
        jobs_of("v100_pcie", {kKiB, 2 * kKiB, 3 * kKiB}, 20), (std::vector<std::size_t>{1, 1}));
}

/// Each block of a rank takes an event at least: 64 ranks of a tree take more than 63, and four
/// ranks that stand for all 64 of a long one through the switches need not.
TEST(DescribedAllReduces, MoreBlocksThanEventsAreBegunOnlyWhereRanksFold) {
    const auto begun = [](const char* name, const char* set, std::uint64_t bytes) {
        std::size_t jobs = 0;
        const RunJobs counted = [&](std::span<const Job> all, const JobEnded& ended) {
            jobs += all.size();
            run_jobs_quietly(all, ended);
        };
        const std::vector<Override> overrides{parse_override(set)};
        const SystemParams system = load_system(
            fmt::format("{}/configs/systems/{}.json", SWITCHFOLD_SOURCE_DIR, name), overrides);
        const auto described = describe_all_reduces(system, {bytes}, 63, counted);
        EXPECT_EQ(described.size(), 1U);
        return jobs - 1;  // less the choice
    };
    EXPECT_EQ(begun("dgx_h100_ndr", "/topology/nodes=8", kKiB), 0U);
    EXPECT_EQ(begun("dgx_h100_ndr", "/topology/nodes=4", kKiB), 1U);
    EXPECT_EQ(begun("hgx_h100", "/topology/gpus=64", 1024 * 1024 * kKiB), 1U);
}

TEST(DescribedAllReduces, TheTableHasALineASize) {
    const RunJobs none = [](std::span<const Job> jobs, const JobEnded& ended) {
        if (jobs.front().label == "choice of all-reduces")
            return run_jobs_quietly(jobs, ended);
        for (std::size_t i = 0; i < jobs.size(); ++i)
            ended(i, {"", ExitCode::kUnfinished, "replay: a cable is cut"});
    };
    const std::string table = all_reduce_table(system_of("hgx_h100"), none);
    EXPECT_NE(table.find("(simulated)"), std::string::npos);
    EXPECT_NE(table.find("     1 KiB  does not end: replay: a cable is cut\n"), std::string::npos);
    EXPECT_NE(table.find("     4 GiB  does not end"), std::string::npos);
}

}  // namespace
}  // namespace switchfold::describe_collectives_test
