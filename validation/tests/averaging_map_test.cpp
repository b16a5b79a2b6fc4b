// SPDX-License-Identifier: Apache-2.0
#include "core/params_reader.h"
#include "validation/experiments/measured_experiments.h"
#include "validation/experiments/simulated_rows.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace switchfold::validation::averaging_map_test {
namespace {

constexpr const char* kHeader =
    "id,hardware,workers,model,algorithm,bytes,quantity,value,unit,kind,note\n";
constexpr const char* kBox =
    ",8 GPUs in two groups of 4 behind PCIe 3.0 switches; one x16 link between them,";

std::string exchange(const std::string& id, const std::string& rest) {
    return id + kBox + rest + ",ms,measured,\n";
}

std::vector<MeasuredExperiment> rows_of(const std::string& rows) {
    const std::filesystem::path root = SWITCHFOLD_SOURCE_DIR;
    const std::filesystem::path map = root / "validation/maps/averaging.json";
    return measured_experiments(
        parse_csv(kHeader + rows, "rows.csv"), read_params_file<TableMap>(map),
        {"rows.csv", map, root, {}});
}

const Json* arrays_of(const MeasuredExperiment& row) {
    EXPECT_EQ(row.why, "");
    return row.values.find("/scenarios/0/all_reduce/copies/arrays");
}

TEST(AveragingMap, ANetworksArraysAreCountedInItsWords) {
    const auto rows = rows_of(
        exchange("counted", "8,\"ResNet-200, 205 arrays\",device,257991328,exchange_time,100") +
        exchange("without", "8,ResNet-200,local,257991328,exchange_time,100"));
    ASSERT_NE(arrays_of(rows[0]), nullptr);
    EXPECT_EQ(*arrays_of(rows[0]), 205);
    EXPECT_EQ(arrays_of(rows[1]), nullptr);
}

TEST(AveragingMap, RowsThatNoExperimentAnswersSayWhy) {
    const auto rows = rows_of(
        exchange("servers", "8,x,dist_device_sync,1024,exchange_time,294.8") +
        exchange("updates", "8,\"x, updated by SGD\",device,1024,exchange_time,56") +
        exchange("unknown", "8,x,by pigeon,1024,exchange_time,56") +
        "elsewhere,8 x P40,8,x,device,1024,exchange_time,50,ms,measured,\n"
        "claim,4 GPUs,4,x,layer division,,speedup,2.6,times,claimed,\n"
        "peak,Xeon Phi,,,,,peak_double,1010.8,GFLOP/s,measured,\n");
    const std::vector<std::string> expected{
        "parameter servers", "updates weights", "no exchange that is known",
        "a machine that",    "not stated",      "a rate of a processor"};
    ASSERT_EQ(rows.size(), expected.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        EXPECT_NE(rows[i].why.find(expected[i]), std::string::npos) << rows[i].why;
}

/// A mean of five runs each (apache/mxnet tools/bandwidth/README.md); the first sets the rate.
TEST(AveragingMap, ExchangesFollowFromOneLinkRate) {
    const auto rows = rows_of(
        exchange(
            "mxnet_device_2", "2,\"ResNet-200, 205 arrays\",device: owner of each "
                              "array,257991328,exchange_time,23.17") +
        exchange("owners", "8,\"net, 205 arrays\",device,257991328,exchange_time,100.13") +
        exchange("host", "8,\"net, 205 arrays\",local,257991328,exchange_time,292.02"));
    SuiteOptions options;
    options.root = SWITCHFOLD_SOURCE_DIR;
    SuiteResult result;
    std::vector<Problem> problems;
    compare_rows(rows, options, result, problems, false);
    ASSERT_EQ(result.cases.size(), 3U);
    EXPECT_NEAR(result.cases[0].error(), 0, 0.01);
    EXPECT_NEAR(result.cases[1].error(), 0, 0.15);
    EXPECT_NEAR(result.cases[2].error(), 0, 0.15);
    EXPECT_TRUE(result.cases[0].fitted);
    EXPECT_FALSE(result.cases[1].fitted);
}

}  // namespace
}  // namespace switchfold::validation::averaging_map_test
