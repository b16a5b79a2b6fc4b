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

TEST(DescribedAllReduces, OneMachineChoosesForAllLongOnes) {
    std::vector<std::size_t> jobs;
    const RunJobs counted = [&](std::span<const Job> all, const JobEnded& ended) {
        jobs.push_back(all.size());
        run_jobs_quietly(all, ended);
    };
    const auto described =
        describe_all_reduces(system_of("v100_pcie"), {kKiB, 64 * kKiB, 1024 * kKiB}, 20, counted);
    EXPECT_EQ(jobs, (std::vector<std::size_t>{3, 1}));
    for (const DescribedAllReduce& one : described)
        EXPECT_NE(one.algorithm, "");
}

TEST(DescribedAllReduces, TheTableHasALineASize) {
    const RunJobs none = [](std::span<const Job> jobs, const JobEnded& ended) {
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
