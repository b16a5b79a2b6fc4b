// SPDX-License-Identifier: Apache-2.0
#include "validation/collectives/nccl_logs.h"

#include "core/error.h"
#include "validation/collectives/collective_plan.h"
#include "validation/harness/suite.h"
#include "workloads/tests/temporary_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include <unistd.h>

namespace switchfold::validation::nccl_logs_test {
namespace {

using test_data::TemporaryFile;

constexpr const char* kSystem = SWITCHFOLD_SOURCE_DIR "/configs/systems/hgx_h100.json";

std::string log_of(
    const std::string& rows, const char* test = "all_reduce",
    const char* end = "# Avg bus bandwidth    : 100\n") {
    std::string text = fmt::format(
        "# Collective test starting: {}_perf\n"
        "# nThread 1 nGpus 4 minBytes 8 maxBytes 33554432 step: 2(factor) graph: 0\n",
        test);
    for (int rank = 0; rank < 4; ++rank)
        text += fmt::format(
            "#  Rank  {} Group  0 Pid   71 on   host device  {} [0x17] NVIDIA H100 80GB HBM3\n",
            rank, rank);
    return text +
           "#       size         count      type   redop    root     time   algbw   busbw "
           "#wrong\n" +
           rows + end;
}
constexpr const char* kRows =
    "        4096          1024     float     sum      -1    20.50    0.20    0.30      0    19.00 "
    "   0.22    0.32      0\n"
    "     4194304       1048576     float     sum      -1    60.00   69.91  104.86      0    61.00 "
    "  68.76  103.14    N/A\n";

std::string
refused(const std::filesystem::path& data, const std::filesystem::path& system = kSystem) {
    SuiteOptions options;
    options.root = SWITCHFOLD_SOURCE_DIR;
    options.data = data;
    options.system = system;
    try {
        static_cast<void>(suite_named("collectives").run(options));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(NcclLogs, EverySizeOutOfPlaceAndInPlace) {
    const TemporaryFile file("run.txt", log_of(kRows));
    ASSERT_TRUE(is_nccl_log(file.path()));
    EXPECT_FALSE(is_nccl_log(SWITCHFOLD_SOURCE_DIR "/validation/tests/synthetic_allreduce.csv"));
    const std::vector<MeasuredRow> rows = read_nccl_log_rows(file.path());
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[1].table, file.path().stem());
    EXPECT_EQ(rows[1].placement, "in-place");
    EXPECT_EQ(rows[1].time_us, 19.0);
    EXPECT_EQ(rows[2].bytes, 4'194'304U);
    EXPECT_EQ(rows[2].collective, CollectiveKind::kAllReduce);
    EXPECT_EQ(rows[2].gpus, 4U);
    EXPECT_EQ(rows[2].nodes, 1U);
    EXPECT_EQ(rows[2].driven, 4U) << "one thread launches on four GPUs";
    EXPECT_EQ(rows[3].unusable, "") << "N/A: nobody counted";
}

TEST(NcclLogs, RunOnTheSystemThatTheUserNames) {
    const TemporaryFile file("run.txt", log_of(kRows));
    SuiteOptions options;
    options.root = SWITCHFOLD_SOURCE_DIR;
    options.data = file.path();
    options.system = kSystem;
    const SuiteResult result = suite_named("collectives").run(options);
    ASSERT_EQ(result.cases.size(), 4U);
    EXPECT_TRUE(result.unmatched.empty());
    EXPECT_EQ(result.cases[2].id, file.path().stem().string() + "/4194304/out-of-place");
    EXPECT_EQ(result.cases[2].measured, 60.0);
    EXPECT_EQ(result.cases[2].simulated, result.cases[3].simulated);
    EXPECT_GT(result.cases[2].simulated, result.cases[0].simulated);
    const double bus = 4194304 * 1.5 / result.cases[2].simulated * 1e-3;
    EXPECT_NE(
        result.cases[2].how.find(fmt::format("{:.2f} for 104.86 GB/s of bus bandwidth", bus)),
        std::string::npos)
        << result.cases[2].how;
}

TEST(NcclLogs, WhatSaysNothingOfATimeIsNotCompared) {
    const TemporaryFile file(
        "run.txt", log_of("0 0 float sum -1 5.00 0.00 0.00 0 5.00 0.00 0.00 0\n"
                          "4096 1024 float sum -1 20.50 0.20 0.30 7 19.00 0.22 0.32 0\n"));
    const std::vector<MeasuredRow> rows = read_nccl_log_rows(file.path());
    const Machines machines(SWITCHFOLD_SOURCE_DIR);
    const CollectivePlan plan = plan_collectives(rows, machines, kSystem);
    EXPECT_EQ(plan.rows.size(), 1U);
    ASSERT_EQ(plan.unmatched.size(), 3U);
    EXPECT_EQ(plan.unmatched[0].why, "the row moves nothing");
    EXPECT_EQ(plan.unmatched[2].why, "nccl-tests counted 7 wrong values");
}

TEST(NcclLogs, RunsOfAFileAreTablesOfTheirOwn) {
    // The second is cut: what it printed counts.
    const TemporaryFile file(
        "run.txt", log_of(kRows) + log_of(std::string(kRows) + "8192 2048 fl\n", "all_gather", ""));
    const std::vector<MeasuredRow> rows = read_nccl_log_rows(file.path());
    ASSERT_EQ(rows.size(), 9U);
    EXPECT_EQ(rows[0].table, "run.all_reduce");
    EXPECT_EQ(rows[3].collective, CollectiveKind::kAllReduce);
    EXPECT_EQ(rows[4].table, "run.all_gather");
    EXPECT_EQ(rows[7].collective, CollectiveKind::kAllGather);
    EXPECT_NE(rows[8].unusable.find("has fewer columns"), std::string::npos);
    EXPECT_EQ(rows[8].line, 20U);
    const TemporaryFile hosts("run.txt", [] {
        std::string text = log_of(kRows);
        return text.replace(text.find(" time "), 6, " cputime ");
    }());
    EXPECT_NE(read_nccl_log_rows(hosts.path())[0].unusable.find("host's calls"), std::string::npos);
}

TEST(NcclLogs, JsonIsReadAsWhatIsPrinted) {
    const TemporaryFile file(
        "run.json",
        R"({"start_time": "now", "args": ["./all_gather_perf"], "env": [], "nccl_version": 22903,
"config": {"nthreads": 1, "ngpus": 2, "graph": 0, "devices": [
{"rank": 0, "hostname": "a", "device_info": "NVIDIA H100"}, {"rank": 2, "hostname": "b", "device_info": "NVIDIA H100"}]},
"results": [{"size": 4096, "count": 1024, "type": "float", "redop": "none", "root": -1, "experiment_name": "",
"out_of_place": {"time": 20.5, "alg_bw": 1, "bus_bw": 1}, "in_place": {"time": 30}}]})");
    ASSERT_TRUE(is_nccl_log(file.path()));
    const std::vector<MeasuredRow> rows = read_nccl_log_rows(file.path());
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].collective, CollectiveKind::kAllGather);
    EXPECT_EQ(rows[0].gpus, 4U);
    EXPECT_EQ(rows[1].time_us, 30);
}

/// What a suite of its own and a user's table read of a log is the same.
TEST(NcclLogs, AreATableOfTheSameRows) {
    const TemporaryFile file(
        "run.txt", log_of("0 0 float sum -1 5.00 0.00 0.00 0 5.00 0.00 0.00 0\n"
                          "4096 1024 float sum -1 20.50 0.20 0.30 7 19.00 0.22 0.32 0\n"));
    const std::vector<MeasuredRow> rows = read_nccl_log_rows(file.path());
    const CsvTable table = log_table(file.path());
    ASSERT_EQ(rows.size(), table.records.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(table.records[i]["unusable"], rows[i].unusable);
        EXPECT_EQ(table.records[i]["operation"], rows[i].collective_name);
        EXPECT_EQ(table.records[i].line, rows[i].line);
    }
    EXPECT_EQ(table.records[2]["unusable"], "nccl-tests counted 7 wrong values");
    EXPECT_EQ(table.records[3]["unusable"], "");
    EXPECT_EQ(table.records[3]["time_us"], "19");
    EXPECT_EQ(table.records[3]["id"], "4096/in-place");
}

TEST(NcclLogs, AGraphLaunchesNothing) {
    std::string text = log_of(kRows);
    text.replace(text.find("graph: 0"), 8, "graph: 1");
    const TemporaryFile file("run.txt", text);
    EXPECT_EQ(read_nccl_log_rows(file.path())[0].driven, 0U);
}

TEST(NcclLogsErrors, SayWhatWasExpected) {
    const TemporaryFile good("run.txt", log_of(kRows));
    EXPECT_NE(refused(good.path(), "").find("expected --system FILE"), std::string::npos);
    const TemporaryFile unknown("run.txt", log_of(kRows, "hypercube"));
    EXPECT_NE(
        refused(unknown.path()).find("is of hypercube_perf, which is not known; expected one of: "),
        std::string::npos);
    const TemporaryFile half(
        "run.txt", log_of("4096 1024 float sum -1 20.50 0.20 0.30 0 19.00 0.2\n"));
    EXPECT_NE(refused(half.path()).find("line 8: has fewer columns"), std::string::npos);
    const TemporaryFile empty("run.txt", log_of(""));
    EXPECT_NE(refused(empty.path()).find("holds no row of results"), std::string::npos);
    std::string many = log_of(kRows);
    many.insert(
        many.find("#       size"), "#  Rank  15 Pid 3 on host device 7 [0x1] NVIDIA H100\n");
    const TemporaryFile large("run.txt", many);
    EXPECT_NE(refused(large.path()).find("hgx_h100.json: /: cannot run what"), std::string::npos)
        << refused(large.path());
}

class NcclLogFolder : public ::testing::Test {
protected:
    NcclLogFolder() {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
    }
    ~NcclLogFolder() override { std::filesystem::remove_all(folder_); }
    NcclLogFolder(const NcclLogFolder&) = delete;
    NcclLogFolder& operator=(const NcclLogFolder&) = delete;
    NcclLogFolder(NcclLogFolder&&) = delete;
    NcclLogFolder& operator=(NcclLogFolder&&) = delete;
    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / fmt::format("switchfold_logs_{}", getpid());
};

TEST_F(NcclLogFolder, IsReadWholeAndHoldsNothingElse) {
    EXPECT_NE(refused(folder_).find("nor a log of nccl-tests; expected"), std::string::npos);
    std::ofstream(folder_ / "b.txt") << log_of(kRows, "all_gather");
    std::ofstream(folder_ / "a.txt") << log_of(kRows);
    const std::vector<MeasuredRow> rows = read_nccl_log_folder(folder_);
    ASSERT_EQ(rows.size(), 8U);
    EXPECT_EQ(rows[0].table, "a");
    EXPECT_EQ(rows[4].collective, CollectiveKind::kAllGather);
    std::ofstream(folder_ / "c.txt") << "something else\n";
    EXPECT_NE(refused(folder_).find("c.txt: /: is not a log of nccl-tests"), std::string::npos);
}

}  // namespace
}  // namespace switchfold::validation::nccl_logs_test
