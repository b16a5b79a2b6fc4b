// SPDX-License-Identifier: Apache-2.0
#include "core/tests/temporary_folder.h"
#include "validation/elastic/elastic_row.h"
#include "validation/experiments/mapped_suite.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace switchfold::validation::elastic_rows_test {
namespace {

constexpr const char* kHeader =
    "id,source,gpu,n_gpus,n_nodes,interconnect,model,change,from_gpus,to_gpus,batch,phase,quantity,"
    "value,unit,kind,note\n";

SuiteOptions of_repository() {
    SuiteOptions options;
    options.root = SWITCHFOLD_SOURCE_DIR;
    return options;
}

std::vector<ElasticRow> read(const std::string& rows) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "rows.csv";
    std::ofstream(path) << kHeader << rows;
    SuiteResult unread;
    const auto read = mapped_rows(path, "validation/maps/elastic.json", of_repository(), unread);
    return {read.begin(), read.end()};
}

SuiteResult compared(const std::string& rows) {
    SuiteResult result;
    compare_elastic_rows(read(rows), of_repository(), result);
    return result;
}

TEST(ElasticRows, AreReadWithTheirNumbers) {
    const auto rows =
        read("a,x/y@1:z,A100,16,2,NVLink,ResNet-50,grow,8,16,,,change_time,1.666,s,measured,\n"
             "b,x,,,,,,,,,,,change_time_model,2 + 27,s,assumed,\n"
             "c,x,,,,,,,,,,,change_time,soon,s,measured,\n");
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].count("from_gpus"), 8U);
    EXPECT_EQ(rows[0].count("to_gpus"), 16U);
    EXPECT_EQ(rows[0].count("batch"), 0U) << "not stated";
    EXPECT_DOUBLE_EQ(rows[0].value, 1.666);
    EXPECT_EQ(rows[0].why, "");
    EXPECT_EQ(rows[1].why, "is assumed or claimed, not measured");
    EXPECT_EQ(
        rows[2].why, "value is \"soon\"; expected a number, or one with its unit: us, ns, ms, s");
}

TEST(ElasticRows, WhatIsNoCountIsTold) {
    const SuiteResult result =
        compared("a,x,A100,sixteen,,,,init,,,,total,communicator_time,1,s,measured,\n");
    ASSERT_EQ(result.unmatched.size(), 1U);
    EXPECT_EQ(result.unmatched[0].why, "n_gpus is \"sixteen\"; expected a number from 1");
}

TEST(ElasticRows, ACheckpointIsItsBytesOverTheBandwidthAndShrinkBeatsInit) {
    const SuiteResult result = compared(
        "d,x,A100,16,2,\"storage: network file system, 100 MB/s\",GPT,restart,,,,,"
        "checkpoint_save_time,151,s,measured,18 GB\n"
        "s,x,,2,2,,,shrink,4,2,,total,communicator_time,0.065,s,measured,\"ncclCommShrink; the "
        "parent's InitRank took 1.32 s\"\n");
    ASSERT_EQ(result.cases.size(), 3U);
    EXPECT_DOUBLE_EQ(result.cases[0].simulated, 180);
    EXPECT_LT(result.cases[1].simulated, result.cases[2].simulated / 10);
    EXPECT_DOUBLE_EQ(result.cases[2].measured, 1.32);
}

TEST(ElasticRows, AreLeftOutByWhatTheySayNotByTheirNames) {
    const auto rows = read(
        "a,x,H100,8,1,,,init,,,,total,communicator_time,2,s,measured,\n"
        "b,x,H100,8,1,,,init,,,,total,communicator_time,60,s,measured,ranks started at different "
        "times\n"
        "c,x,H100,8,1,,,init,,,,kernels,communicator_time,2,s,measured,\n"
        "d,x,H100,128,16,,,init,,,,total,communicator_time,2,s,measured,\n"
        "e,x,A100,2,1,,ResNet-50,,,,64,,steps_per_second,7,1/s,measured,\n"
        "f,x,A100,2,1,,BERT,,,,64,,steps_per_second,7,1/s,measured,\n"
        "g,x,A100,2,1,,,grow,,,,,change_time,1,s,claimed,\n");
    ASSERT_EQ(rows.size(), 7U);
    EXPECT_EQ(rows[0].why, "");
    EXPECT_EQ(rows[1].why, "is waiting for other ranks or for a driver, not a communicator");
    EXPECT_NE(rows[2].why.find("is a phase"), std::string::npos);
    EXPECT_NE(rows[3].why.find("of thousands of ranks"), std::string::npos);
    EXPECT_EQ(rows[4].why, "");
    EXPECT_NE(rows[5].why.find("which BERT"), std::string::npos);
    EXPECT_EQ(rows[6].why, "is assumed or claimed, not measured");
}

TEST(ElasticRows, RatiosAreToTheRowOfTheirSeriesThatIsItsBase) {
    const SuiteResult result =
        compared("all,x,,8,1,,,,,,,,all_reduce_bus_bandwidth,150,GB/s,measured,\n"
                 "four,x,,4,1,,,,,,,,all_reduce_bus_bandwidth,120,GB/s,measured,strided\n"
                 "two,x,,2,2,,,,,,,,all_reduce_bus_bandwidth,9,GB/s,measured,strided\n"
                 "three,x,,3,1,,,,,,,,all_reduce_bus_bandwidth,9,GB/s,measured,\n");
    ASSERT_EQ(result.cases.size(), 1U);
    EXPECT_EQ(result.cases[0].id, "four");
    EXPECT_DOUBLE_EQ(result.cases[0].measured, 0.8);
    EXPECT_NEAR(result.cases[0].simulated, 1, 0.1) << "switches carry all groups at once";
    ASSERT_EQ(result.notes.size(), 1U);
    EXPECT_NE(result.notes[0].find("8 GPUs together"), std::string::npos);
    ASSERT_EQ(result.unmatched.size(), 2U);
    EXPECT_EQ(result.unmatched[0].id, "three");
    EXPECT_EQ(result.unmatched[1].why, "has no row beside it to be compared with");
}

TEST(ElasticRows, ALogsBootstrapIsWaitingAndNotCompared) {
    const SuiteResult result = compared(
        "comm_x_total,x,H100,8,1,,,init,,,,total,communicator_time,2.46,s,measured,\n"
        "comm_x_bootstrap,x,H100,8,1,,,init,,,,bootstrap,communicator_time,1.6,s,measured,\n");
    ASSERT_EQ(result.cases.size(), 1U);
    EXPECT_NEAR(result.cases[0].measured, 0.86, 1e-12);
}

}  // namespace
}  // namespace switchfold::validation::elastic_rows_test
