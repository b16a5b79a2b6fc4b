// SPDX-License-Identifier: Apache-2.0
// Exports of Nsight Systems and a protobuf Chakra trace of real runs, which are not part of the
// repository. The results are compared with counts by SQL and with those in SOURCES.md.
#include "workloads/profile/rank_alignment.h"
#include "workloads/profile/trace_summary.h"
#include "workloads/readers/input/whole_file.h"
#include "workloads/readers/read_traces.h"
#include "workloads/tests/round_trip.h"

#include <gtest/gtest.h>

#include <map>

#include <sqlite3.h>

namespace switchfold::real_files_test {
namespace {

std::filesystem::path trace(const std::string& name) {
    return std::filesystem::path(SWITCHFOLD_SOURCE_DIR) / "../shared/traces" / name;
}

#define SKIP_WITHOUT(path)                                                                         \
    if (!std::filesystem::exists(path))                                                            \
    GTEST_SKIP() << "no " << (path) << ": the real traces are not part of the repository"

/// Result of an SQL query that returns one number.
std::uint64_t ask(const std::filesystem::path& file, const std::string& question) {
    const WholeFile whole(file);
    sqlite3* database = nullptr;
    EXPECT_EQ(
        sqlite3_open_v2(whole.path().c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database, question.c_str(), -1, &statement, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
    const auto answer = static_cast<std::uint64_t>(sqlite3_column_int64(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return answer;
}

/// SQL query that counts a GPU's rows whose launching call is in the trace. The reader drops those
/// that were launched earlier.
std::string launched(const std::string& table, std::size_t device) {
    return "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_" + table +
           " k WHERE deviceId = " + std::to_string(device) +
           " AND correlationId IN (SELECT correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME r WHERE "
           "r.globalTid / 16777216 = k.globalPid / 16777216)";
}

class RealReport : public ::testing::TestWithParam<const char*> {};

TEST_P(RealReport, HoldsWhatItsTablesCount) {
    const std::filesystem::path file = trace(GetParam());
    SKIP_WITHOUT(file);
    const TraceWorkload workload = read_traces({{file}});
    check(workload.graph);
    ASSERT_EQ(workload.graph.ranks.size(), 2U);
    for (std::size_t rank = 0; rank < 2; ++rank) {
        const TraceFileReport& report = workload.files[rank];
        EXPECT_EQ(report.gpu_name, "");
        EXPECT_EQ(report.streams, 1U);
        EXPECT_EQ(report.kernels + report.collectives, ask(file, launched("KERNEL", rank)));
        EXPECT_EQ(
            report.copies,
            ask(file, launched("MEMCPY", rank)) + ask(file, launched("MEMSET", rank)));
    }
    EXPECT_TRUE(impossible_orders(workload).empty());
    EXPECT_TRUE(align_ranks(workload).problems.empty());
    test_data::expect_same(workload, test_data::again(workload));
}

INSTANTIATE_TEST_SUITE_P(
    Shared, RealReport,
    ::testing::Values(
        "nsys_fastvideo_train_h100_2r/mfu_2gpu_before.sqlite.gz",
        "nsys_fastvideo_infer_h100_2r/h100_2gpu_1s.sqlite.gz"),
    [](const auto& file) { return std::string(file.param).substr(0, 20); });

TEST(RealNsight, TrainingHas33ExchangesAGpuOfWhichOneWasLaunchedBefore) {
    const auto file = trace("nsys_fastvideo_train_h100_2r/mfu_2gpu_before.sqlite.gz");
    SKIP_WITHOUT(file);
    const TraceWorkload workload = read_traces({{file}});
    for (std::size_t rank = 0; rank < 2; ++rank) {
        EXPECT_EQ(workload.files[rank].collectives, 32U);
        EXPECT_EQ(workload.files[rank].sizes.at("estimated_from_duration"), 32U);
        for (const Operation& operation : workload.graph.ranks[rank]->operations)
            if (const auto* c = std::get_if<CollectiveOperation>(&operation.body)) {
                EXPECT_EQ(c->kind, CollectiveKind::kAllToAll);
                EXPECT_EQ(c->thread_blocks, 32U);
                EXPECT_EQ(c->threads_per_block, 640U);
                EXPECT_EQ(c->registers_per_thread, 96U);
            }
        EXPECT_EQ(summarise(workload, rank).overlapped, Time()) << "they share the kernels' stream";
    }
    EXPECT_EQ(align_ranks(workload).collectives.size(), 32U);
}

TEST(RealNsight, InferenceHasNoCollectiveAndSaysSo) {
    const auto file = trace("nsys_fastvideo_infer_h100_2r/h100_2gpu_1s.sqlite.gz");
    SKIP_WITHOUT(file);
    const TraceWorkload workload = read_traces({{file}});
    for (const TraceFileReport& report : workload.files) {
        EXPECT_EQ(report.collectives, 0U);
        EXPECT_NE(report.warnings.back().find("holds no collective"), std::string::npos);
    }
}

TEST(RealChakra, HoldsTheBucketsOfResnet50) {
    const auto file = trace("chakra_resnet50_ddp_2r/chakra.0.et.gz");
    SKIP_WITHOUT(file);
    const TraceWorkload workload = read_traces({{file}});
    check(workload.graph);
    const TraceFileReport& report = workload.files[0];
    EXPECT_EQ(report.events, 3664U);
    std::map<std::uint64_t, Time> reduces;
    std::uint64_t broadcasts = 0;
    for (const Operation& operation : workload.graph.ranks[0]->operations)
        if (const auto* c = std::get_if<CollectiveOperation>(&operation.body)) {
            if (c->kind == CollectiveKind::kAllReduce)
                reduces[c->bytes.count()] = c->measured;
            broadcasts += c->kind == CollectiveKind::kBroadcast ? 1 : 0;
        }
    const std::map<std::uint64_t, Time> stated{
        {8'196'000, microseconds(5572)},
        {31'502'336, microseconds(9093)},
        {26'255'360, microseconds(8512)},
        {26'550'272, microseconds(8178)},
        {9'724'160, microseconds(5327)}};
    EXPECT_EQ(reduces, stated);
    EXPECT_EQ(broadcasts, 2U);
    EXPECT_EQ(report.collectives, 7U) << "calls on the host move nothing";
    const auto durations = report.kernels + report.copies + report.collectives +
                           report.used.at("operators of the host");
    EXPECT_EQ(durations, 3664U) << "every node runs";
    EXPECT_TRUE(impossible_orders(workload).empty());
    test_data::expect_same(workload, test_data::again(workload));
}

}  // namespace
}  // namespace switchfold::real_files_test
