// SPDX-License-Identifier: Apache-2.0
#include "validation/collectives/collective_tables.h"

#include "core/error.h"
#include "core/random_stream.h"
#include "workloads/tests/broken_text.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace switchfold::validation::collective_tables_test {
namespace {

constexpr const char* kHeader =
    "id,gpu,n_gpus,n_nodes,interconnect,algo,nccl_version,dtype,size_bytes,time_us,algbw_GBps,"
    "busbw_GBps,placement\n";

MeasuredRow one(const std::string& line) {
    return parse_collective_tables(kHeader + line + "\n", "t.csv").at(0);
}

std::string error_of(const std::string& text) {
    try {
        static_cast<void>(parse_collective_tables(text, "t.csv"));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(CollectiveTables, ReadsARow) {
    const MeasuredRow row =
        one("t,NVIDIA H100,8,,NVSwitch,auto,2.20.3,double,1048576,30.5,34.38,60.16,in-place");
    EXPECT_EQ(row.table, "t");
    EXPECT_EQ(row.gpus, 8U);
    EXPECT_FALSE(row.nodes);
    EXPECT_EQ(row.bytes, 1048576U);
    EXPECT_EQ(row.placement, "in-place");
    const auto time = measured_time(row);
    ASSERT_TRUE(time);
    EXPECT_EQ(time->us, 30.5);
    EXPECT_FALSE(time->low);
}

TEST(CollectiveTables, ATimeFromABandwidthHasTheIntervalOfItsDigits) {
    const auto time = measured_time(one("t,H100,8,1,,auto,,,8000,,,0.50,"));
    ASSERT_TRUE(time);
    // 8000 B x 2 x 7 / 8 at 0.5 GB/s. A rate of 0.495 to 0.505 prints as 0.50.
    EXPECT_NEAR(time->us, 28.0, 1e-9);
    EXPECT_NEAR(*time->low, 14.0 / 0.505, 1e-9);
    EXPECT_NEAR(*time->high, 14.0 / 0.495, 1e-9);
    // The algorithm bandwidth has more digits here than the bus bandwidth, so it gives the time.
    EXPECT_NEAR(measured_time(one("t,H100,8,1,,auto,,,8000,,0.2857,0.5,"))->us, 28.0, 0.01);
    EXPECT_FALSE(measured_time(one("t,H100,8,1,,auto,,,8,,0.00,0.00,")));
    EXPECT_FALSE(measured_time(one("t,H100,8,1,,auto,,,,,211,370,")));
}

TEST(CollectiveTables, SaysOnWhichLineWhatIsWrong) {
    EXPECT_EQ(
        error_of(
            std::string(kHeader) + "t,H100,eight,1,,auto,,,8,1,,,\nt,H100,1,1,,auto,,,8,-1,,,\n"),
        "t.csv: line 2: n_gpus is \"eight\"; expected a whole number from 2\n"
        "t.csv: line 3: n_gpus is \"1\"; expected a whole number from 2\n"
        "t.csv: line 3: time_us is \"-1\"; expected a number from 0");
    EXPECT_NE(error_of("id,n_gpus\n").find("names no column size_bytes"), std::string::npos);
    EXPECT_NE(
        error_of("id,n_gpus,size_bytes\n").find("names no measured column"), std::string::npos);
    EXPECT_NE(error_of(kHeader).find("expected at least one row"), std::string::npos);
    EXPECT_NE(
        error_of(std::string(kHeader) + ",H100,8,1,,auto,,,1K,1,,,\n").find("size_bytes is \"1K\""),
        std::string::npos);
}

TEST(CollectiveTables, BusBandwidthAsNcclTestsDefinesIt) {
    EXPECT_DOUBLE_EQ(bus_bandwidth_GBps(CollectiveKind::kAllReduce, 1'000'000, 8, 10), 175.0);
}

AlgorithmWords words(
    const std::string& algorithm, const std::string& version = "", const std::string& links = "") {
    MeasuredRow row;
    row.algorithm = algorithm;
    row.library_version = version;
    row.interconnect = links;
    return algorithm_words(row);
}

TEST(CollectiveTables, AlgorithmsByTheirLabels) {
    EXPECT_EQ(words("auto").algorithm, Algorithm::kAuto);
    EXPECT_FALSE(words("auto").in_switch_off);
    EXPECT_EQ(words("ring (NCCL pick)").algorithm, Algorithm::kRing);
    EXPECT_EQ(words("Ring").algorithm, Algorithm::kRing);
    EXPECT_EQ(words("tree").algorithm, Algorithm::kTree);
    EXPECT_EQ(words("CollnetDirect").algorithm, Algorithm::kCollnet);
    EXPECT_EQ(words("nvls (NCCL pick)").algorithm, Algorithm::kInSwitch);
    EXPECT_EQ(words("nvls (NCCL_NVLS_ENABLE=1)").algorithm, Algorithm::kInSwitch);
    for (const char* off :
         {"NVLS off", "ring/other (NVLS off)", "auto, NCCL_NVLS_ENABLE=0", "no NVLS"}) {
        EXPECT_EQ(words(off).algorithm, Algorithm::kAuto) << off;
        EXPECT_TRUE(words(off).in_switch_off) << off;
    }
    EXPECT_EQ(words("ring (NCCL_NVLS_ENABLE=0)").algorithm, Algorithm::kRing);
    EXPECT_TRUE(
        words("auto", "", "\"NVLS multicast support is not available\" in log").in_switch_off);
}

TEST(CollectiveTables, LibrariesBeforeNvlsHaveNone) {
    EXPECT_TRUE(words("auto", "2.16.5").in_switch_off);
    EXPECT_FALSE(words("auto", "2.18.5").in_switch_off);
    EXPECT_FALSE(words("auto", "rccl-tests develop:a7809b3").in_switch_off);
    EXPECT_EQ(library_version("2.22.3+cuda12.6"), 22203U);
    EXPECT_EQ(library_version("nccl-library=22902"), 22902U);
    EXPECT_EQ(library_version("2.31.2-1"), 23102U);
    EXPECT_FALSE(library_version(""));
}

TEST(CollectiveTables, DoubtfulLabelsAreNotTakenByTheirWord) {
    const AlgorithmWords stated = words("nvls (as stated in the source)");
    EXPECT_EQ(stated.algorithm, Algorithm::kAuto);
    EXPECT_FALSE(stated.doubt.empty());
    EXPECT_TRUE(words("nvls").doubt.empty());
}

TEST(CollectiveTables, AColumnNamesTheCollective) {
    const auto rows = parse_collective_tables(
        "id,collective,n_gpus,size_bytes,busbw_GBps\n"
        "a,all_gather,8,1000000,100.0\n"
        "b,,8,1000000,100.0\n"
        "c,hop_over,8,1000000,100.0\n",
        "t.csv");
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].collective, CollectiveKind::kAllGather);
    EXPECT_EQ(rows[1].collective, CollectiveKind::kAllReduce);
    EXPECT_FALSE(rows[2].collective);
    // 1 MB at 100 GB/s of bus bandwidth. An all-gather moves 7/8 of it over a link, an all-reduce
    // twice that.
    EXPECT_NEAR(measured_time(rows[0])->us, 8.75, 1e-9);
    EXPECT_NEAR(measured_time(rows[1])->us, 17.5, 1e-9);
    EXPECT_FALSE(measured_time(rows[2]));
}

TEST(CollectiveTables, BrokenCopiesAreReadOrRefused) {
    RandomStream random(1, "tables");
    std::ifstream in(SWITCHFOLD_SOURCE_DIR "/fuzz/tables/corpus/every_column.csv");
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(parse_collective_tables(whole, "whole").size(), 2U);
    int refused = 0;
    for (int i = 0; i < 400; ++i) {
        const std::string text = testing::broken(whole, random);
        SCOPED_TRACE(text);
        try {
            for (const MeasuredRow& row : parse_collective_tables(text, "broken"))
                static_cast<void>(measured_time(row));
        } catch (const ConfigError&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace switchfold::validation::collective_tables_test
