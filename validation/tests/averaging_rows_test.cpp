// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/tests/temporary_folder.h"
#include "validation/averaging/averaging_row.h"
#include "validation/averaging/compound_rows.h"
#include "validation/averaging/coprocessor_rows.h"
#include "validation/averaging/exchange_rows.h"
#include "validation/harness/suite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace switchfold::validation::averaging_rows_test {
namespace {

constexpr const char* kHeader = "id,hardware,quantity,value,unit,kind,note\n";

auto read(const std::string& rows, const std::string& header = kHeader) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "rows.csv";
    std::ofstream(path) << header << rows;
    return read_averaging_rows(path);
}

SuiteResult compared(const std::string& rows) {
    SuiteOptions options;
    options.root = SWITCHFOLD_SOURCE_DIR;
    SuiteResult result;
    compare_coprocessor(read(rows), options, result);
    return result;
}

TEST(AveragingRows, WhatIsWrongIsToldByLines) {
    try {
        static_cast<void>(read("a,x,speedup,fast,times,claimed,\n"
                               "a,x,speedup,2,times,claimed,\n"));
        FAIL() << "no error";
    } catch (const ConfigError& error) {
        ASSERT_EQ(error.problems().size(), 2U);
        EXPECT_NE(error.problems()[0].text().find("line 2: value is \"fast\""), std::string::npos);
        EXPECT_NE(error.problems()[1].text().find("line 3: id"), std::string::npos);
    }
}

TEST(AveragingRows, PeaksFollowFromCoresClockAndLanes) {
    const SuiteResult result =
        compared("phi_5110p_dp,Xeon Phi (Knights Corner),peak_double,1010.8,GFLOP/s,measured,\n"
                 "phi_cpu_dp_sp,Xeon E5-2670,peak_single,333,GFLOP/s,measured,\n"
                 "phi_pcie,Xeon Phi (Knights Corner),host_bandwidth,6.7,GB/s,measured,\n");
    ASSERT_EQ(result.cases.size(), 2U);
    EXPECT_NEAR(result.cases[0].simulated, 60 * 1.053 * 16, 0.01);
    EXPECT_NEAR(result.cases[1].simulated, 8 * 2.6 * 16, 0.01);
    ASSERT_EQ(result.unmatched.size(), 1U);
    EXPECT_EQ(result.unmatched[0].id, "phi_pcie");
}

TEST(AveragingRows, StreamIsWithinTheMeasuredRangeAndFallsWithMoreThreads) {
    const SuiteResult result = compared(
        "phi_se10p_stream_copy,Xeon Phi (Knights Corner),stream_bandwidth,169.4,GB/s,measured,\n"
        "phi_se10p_stream_triad,Xeon Phi (Knights Corner),stream_bandwidth,174.7,GB/s,measured,\n");
    ASSERT_EQ(result.cases.size(), 2U);
    for (const Case& c : result.cases) {
        EXPECT_GE(c.simulated, 160);
        EXPECT_LE(c.simulated, 175);
        EXPECT_TRUE(c.fitted);
    }
    ASSERT_EQ(result.verdicts.size(), 1U);
    EXPECT_TRUE(result.verdicts[0].kept());
}

TEST(AveragingRows, ClaimsStandBesideTheShippedSweep) {
    const SuiteResult result =
        compared("thesis_autoencoder,Xeon Phi over a CPU,speedup,4.5,times,claimed,\n");
    ASSERT_EQ(result.cases.size(), 1U);
    EXPECT_EQ(result.cases[0].group, "claims beside ours");
    ASSERT_EQ(result.verdicts.size(), 1U);
    EXPECT_TRUE(result.verdicts[0].kept()) << result.cases[0].simulated;
    EXPECT_TRUE(std::ranges::any_of(result.notes, [](const std::string& note) {
        return note.find("not reproduced") != std::string::npos;
    }));
}

TEST(AveragingRows, TheCompoundModelStandsBesideTheShippedExperiment) {
    SuiteOptions options;
    options.root = SWITCHFOLD_SOURCE_DIR;
    SuiteResult result;
    const auto rows = read("thesis_compound,4 GPUs,speedup,2.6,times,claimed,\n"
                           "yao_pc,2 GPUs,speedup,1.6,times,claimed,\n");
    EXPECT_FALSE(is_of_compound(rows[1]));
    compare_compound({rows[0]}, options, result);
    ASSERT_EQ(result.cases.size(), 1U);
    EXPECT_EQ(result.cases[0].measured, 2.6);
    // The longest chain limits the speedup to at most 2.1 (docs/plans.md#layers-and-branches).
    EXPECT_GT(result.cases[0].simulated, 1.5);
    EXPECT_LT(result.cases[0].simulated, 2.1);
    EXPECT_NE(result.cases[0].how.find("wavefront"), std::string::npos);
    ASSERT_EQ(result.notes.size(), 1U);
    EXPECT_NE(result.notes[0].find("not reproduced"), std::string::npos);
}

TEST(AveragingRows, ExchangesComeFromOneLinkRate) {
    const std::string box = "8 GPUs in two groups of 4 behind PCIe 3.0 switches";
    const auto rows = read(
        "mxnet_device_2," + box +
            ",2,\"net, 205 arrays\",device: owner of each array,257991328,exchange_time,23.17,ms,"
            "measured,\n"
            // The page's other runs, each a mean of five (apache/mxnet tools/bandwidth/README.md).
            "device_8," +
            box +
            ",8,\"net, 205 arrays\",device,257991328,exchange_time,100.13,ms,measured,\n"
            "dist," +
            box +
            ",8,\"net, 205 arrays\",dist_device_sync,257991328,exchange_time,294.8,ms,measured,\n"
            "elsewhere,8 x P40,8,\"net, 205 arrays\",device,257991328,exchange_time,50,ms,"
            "measured,\n",
        "id,hardware,workers,model,algorithm,bytes,quantity,value,unit,kind,note\n");
    SuiteOptions options;
    options.root = SWITCHFOLD_SOURCE_DIR;
    SuiteResult result;
    compare_exchange(rows, options, result);
    ASSERT_EQ(result.cases.size(), 2U);
    EXPECT_TRUE(result.cases[0].fitted);
    EXPECT_NEAR(result.cases[0].error(), 0, 0.01);
    EXPECT_FALSE(result.cases[1].fitted);
    EXPECT_NEAR(result.cases[1].error(), 0, 0.15);
    ASSERT_EQ(result.unmatched.size(), 2U);
    EXPECT_EQ(result.unmatched[0].id, "dist");
}

}  // namespace
}  // namespace switchfold::validation::averaging_rows_test
