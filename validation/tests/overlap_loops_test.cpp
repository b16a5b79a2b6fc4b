// SPDX-License-Identifier: Apache-2.0
#include "validation/overlap/overlap_loops.h"

#include "core/csv.h"
#include "core/tests/temporary_folder.h"
#include "sim/runner.h"
#include "validation/experiments/mapped_suite.h"
#include "validation/harness/data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

namespace switchfold::validation::overlap_loops_test {
namespace {

SuiteOptions of_repository() {
    SuiteOptions options;
    options.root = SWITCHFOLD_SOURCE_DIR;
    return options;
}

std::vector<MeasuredExperiment> rows_of(const std::filesystem::path& table) {
    SuiteResult unread;
    return mapped_rows(table, "validation/maps/overlap_loops.json", of_repository(), unread);
}

std::filesystem::path shipped() {
    return of_repository().root / kShippedData / "reference/hopper_contention.csv";
}

TEST(ContentionLoops, WhatSaysTooLittleSaysWhy) {
    const TemporaryFolder folder;
    const std::filesystem::path table = folder.path() / "loops.csv";
    const std::string header =
        "id,gpu,n_gpus,interconnect,collective,mode,comm_bytes,n_comm,gemm_m,"
        "gemm_n,gemm_k,n_gemm,comm_together_us,gemm_alone_us,gemm_together_us,"
        "makespan_us,sequential_us\n";
    std::ofstream(table)
        << header
        << "small,NVIDIA H100,8,HGX NVSwitch,all_reduce,ring,,1,8192,8192,8192,1,,,,2,3\n"
           "untimed,NVIDIA H100,8,HGX NVSwitch,all_reduce,ring,64,1,8192,8192,8192,1,,,,2,\n"
           "reduced,NVIDIA H100,8,HGX NVSwitch,all_reduce,copy "
           "engines,64,1,8192,8192,8192,1,,,,2,3\n"
           "other,NVIDIA H100,8,HGX NVSwitch,all_reduce,ring,64,1,4096,8192,8192,1,,,,2,3\n"
           "many,NVIDIA H100,8,HGX NVSwitch,all_reduce,ring,64,1,8192,8192,8192,1,,,,soon,3\n";
    std::map<std::string, std::string> why;
    for (const MeasuredExperiment& row : rows_of(table))
        why[row.id] = why_without_line(row);
    EXPECT_EQ(why["small"], "does not say how large the product or the collective is");
    EXPECT_EQ(why["untimed"], "times neither the product alone nor both one after the other");
    EXPECT_NE(why["reduced"].find("is no all-gather"), std::string::npos);
    EXPECT_NE(why["other"].find("no launch is stated"), std::string::npos);
    EXPECT_NE(why["many"].find("makespan_us is \"soon\""), std::string::npos);
}

/// The loops of a row are an experiment, which anybody can run with sizes of their own.
TEST(ContentionLoops, TheExperimentOfARowSaysTheSame) {
    SuiteResult suite;
    add_loops(of_repository(), suite);
    std::map<std::string, double> simulated;
    for (const Case& c : suite.cases)
        simulated[c.id] = c.simulated;
    const MeasuredExperiment row = rows_of(shipped()).at(0);
    RunOptions options;
    options.jobs = 2;
    const ScenarioResult ran = run_experiment(load_row(row), options).scenarios.at(0);
    constexpr double kHalfAPoint = 0.005;
    EXPECT_NEAR(*ran.kernel_slowdown + 1, simulated.at(row.id + "/product"), kHalfAPoint);
    EXPECT_NEAR(*ran.collective_slowdown + 1, simulated.at(row.id + "/collective"), kHalfAPoint);
    EXPECT_NEAR(
        1 / *ran.speedup, simulated.at(row.id + "/together over one after the other"), kHalfAPoint);
}

/// Two effects of the measurement: products lose SMs only while a collective runs, and a collective
/// waits until the product before it has launched all its thread blocks.
TEST(ContentionLoops, BothSidesAreAsMeasured) {
    SuiteResult suite;
    add_loops(of_repository(), suite);
    std::map<std::string, Case> cases;
    for (const Case& c : suite.cases)
        cases[c.id] = c;
    ASSERT_EQ(cases.size(), 5U);
    const std::string engines =
        "pytorch172714_h100_8g_copy_engine/together over one after the other";
    const std::string kernels = "pytorch172714_h100_8g_sm/together over one after the other";
    for (const auto& [id, c] : cases)
        EXPECT_TRUE(id == engines || std::abs(c.error()) < 0.10) << id << ": " << c.simulated;
    // Copy engines occupy no SMs, so a product next to them slows down less.
    EXPECT_LT(cases.at(engines).simulated, cases.at(kernels).simulated);
    EXPECT_NEAR(cases.at("simllm_a100_mesh4/product").measured, 1.161, 1e-3);
    EXPECT_NEAR(cases.at("simllm_a100_mesh4/collective").measured, 1.481, 1e-3);
    EXPECT_EQ(suite.unmatched.size(), 1U);
}

}  // namespace
}  // namespace switchfold::validation::overlap_loops_test
