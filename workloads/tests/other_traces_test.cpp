// SPDX-License-Identifier: Apache-2.0
// Tests for logs of nccl-tests, execution traces next to Kineto's, and detection of a file's kind.
#include "core/error.h"
#include "workloads/readers/read_traces.h"
#include "workloads/tests/round_trip.h"
#include "workloads/tests/trace_file.h"

#include <gtest/gtest.h>

namespace switchfold::other_traces_test {
namespace {

using test_data::TemporaryFile;
using test_data::TraceText;

std::string message(const std::vector<std::filesystem::path>& files) {
    try {
        static_cast<void>(read_traces({files}));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "accepted";
}

std::string log_of(const std::string& rows, const std::string& comment = "") {
    return "# nThread 1 nGpus 2 minBytes 8 maxBytes 1048576 step: 2(factor)\n" + comment +
           "#  Rank  0 Group  0 Pid   71 on   host device  0 [0x17] NVIDIA H100 80GB HBM3\n"
           "#  Rank  1 Group  0 Pid   71 on   host device  1 [0x18] NVIDIA H100 80GB HBM3\n"
           "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
           "host:71:71 [0] NCCL INFO Bootstrap\n" +
           rows + "# Avg bus bandwidth    : 100\n";
}
const std::string kAllReduce =
    "     1048576        262144     float     sum      -1    20.50   51.15   51.15      0    21.00 "
    "  49.93   49.93      0\n"
    "     2097152        524288  bfloat16     sum      -1    30.25   69.33   69.33      0    31.00 "
    "  67.65   67.65      0\n";

TEST(NcclTests, RowsBecomeCollectives) {
    const TemporaryFile file("log.txt", log_of(kAllReduce));
    const TraceWorkload workload = read_traces({{file.path()}});
    check(workload.graph);
    const auto& operations = workload.graph.ranks[0]->operations;
    ASSERT_EQ(operations.size(), 2U);
    const auto& second = std::get<CollectiveOperation>(operations[1].body);
    EXPECT_EQ(second.kind, CollectiveKind::kAllReduce) << "twice (n - 1) / n, a sum";
    EXPECT_EQ(second.bytes, Bytes(2'097'152));
    EXPECT_EQ(second.datatype, Datatype::kBfloat16);
    EXPECT_EQ(second.measured, nanoseconds(30'250));
    EXPECT_EQ(workload.graph.groups[0].ranks.size(), 2U);
    EXPECT_EQ(workload.files[0].gpu_name, "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(workload.files[0].dropped.at("lines that are not results"), 1U);
    test_data::expect_same(workload, test_data::again(workload));
}

/// Every line of the log behind what a launcher, a container or a logger puts there.
std::string behind(const std::string& tag, const std::string& log, const std::string& end = "\n") {
    std::string tagged;
    for (std::size_t at = 0; at < log.size(); at = log.find('\n', at) + 1)
        tagged += tag + log.substr(at, log.find('\n', at) - at) + end;
    return tagged;
}

TEST(NcclTests, WhatLaunchersPrintIsNoPartOfALine) {
    const std::string log = log_of(kAllReduce);
    for (const std::string tag :
         {"[1,0]<stdout>:", "[1,0]<stdout>: ", "[prterun-node1-71@1,0]<stdout>: ", "0: ", " 3: ",
          "[default0]:", "2026-05-01T12:00:01.123456789Z ", "nccl-launcher-x7k2 nccl ",
          "worker-0  | ", "[2026-05-01 12:00:01,123] INFO - ",
          "May  1 12:00:01 node1 nccl[71]: "}) {
        const TemporaryFile file("log.txt", behind(tag, log));
        EXPECT_EQ(read_traces({{file.path()}}).graph.ranks[0]->operations.size(), 2U) << tag;
    }
    const TemporaryFile coloured("log.txt", behind("\x1b[32m", log, "\x1b[0m\r\n"));
    EXPECT_EQ(read_traces({{coloured.path()}}).graph.ranks[0]->operations.size(), 2U);
}

TEST(NcclTests, RunsOfAFileAreEachOfTheirCollective) {
    const std::string sums =
        "     1048576        131072     float     sum      -1    20.50   51.15   25.57      0\n";
    const TemporaryFile two("log.txt", log_of(kAllReduce) + log_of(sums));
    const TraceWorkload workload = read_traces({{two.path()}});
    const auto& operations = workload.graph.ranks[0]->operations;
    const auto kind = [&](std::size_t i) {
        return std::get<CollectiveOperation>(operations[i].body).kind;
    };
    ASSERT_EQ(operations.size(), 3U);
    EXPECT_EQ(kind(0), CollectiveKind::kAllReduce);
    EXPECT_EQ(kind(1), CollectiveKind::kAllReduce);
    EXPECT_EQ(kind(2), CollectiveKind::kReduceScatter);
    std::string four = log_of(kAllReduce, "# Collective test starting: all_reduce_perf\n");
    four.insert(four.find("#       size"), "#  Rank  3 Pid 71 on host device 3 [0x1a] NVIDIA\n");
    const TemporaryFile unlike("log.txt", log_of(kAllReduce) + four);
    EXPECT_NE(
        message({unlike.path()}).find("is of 4 ranks, and what precedes it of 2"),
        std::string::npos)
        << message({unlike.path()});
    // A run that failed before its first row, on other GPUs.
    const TemporaryFile failed("log.txt", four.substr(0, four.find("  1048576")) + log_of(sums));
    EXPECT_EQ(read_traces({{failed.path()}}).graph.groups[0].ranks.size(), 2U);
}

TEST(NcclTests, OldVersionsHaveNoColumnOfRoots) {
    std::string old = log_of("     1048576        262144   float     sum    20.50   51.15   51.15  "
                             "1e-06    21.00   49.93 "
                             "  49.93  1e-06\n");
    old.replace(old.find("   root "), 8, " ");
    old.replace(old.find("#wrong"), 6, "error");
    const TemporaryFile file("log.txt", old);
    const TraceWorkload workload = read_traces({{file.path()}});
    const auto& only = std::get<CollectiveOperation>(workload.graph.ranks[0]->operations[0].body);
    EXPECT_EQ(only.kind, CollectiveKind::kAllReduce);
    EXPECT_EQ(only.measured, nanoseconds(20'500));
}

TEST(NcclTests, TimesOfTheHostAreNotThoseOfTheCollective) {
    std::string text = log_of(kAllReduce);
    text.replace(text.find("  time "), 7, " cputime ");
    const TemporaryFile file("log.txt", text);
    const TraceWorkload workload = read_traces({{file.path()}});
    EXPECT_NE(
        workload.files[0].warnings.at(0).find("2 times are those of the host's calls"),
        std::string::npos);
}

TEST(NcclTests, ARowThatIsCutIsLeftOutAndSaid) {
    const TemporaryFile file(
        "log.txt", log_of(kAllReduce + "  4194304  1048576  float  sum  -1\n"));
    const TraceWorkload workload = read_traces({{file.path()}});
    EXPECT_EQ(workload.graph.ranks[0]->operations.size(), 2U);
    const std::string& note = workload.files[0].warnings.at(0);
    EXPECT_NE(note.find("line 8 has fewer columns"), std::string::npos) << note;
}

TEST(NcclTests, WhichCollectiveItIs) {
    const std::string gather =
        "     1048576        262144     float    none      -1    20.50   51.15   25.57      0\n";
    const TemporaryFile unknown("log.txt", log_of(gather));
    EXPECT_NE(message({unknown.path()}).find("could be of several"), std::string::npos);
    const TemporaryFile named(
        "named.txt", log_of(gather, "# Collective test starting: all_gather_perf\n"));
    const TraceWorkload workload = read_traces({{named.path()}});
    EXPECT_EQ(
        std::get<CollectiveOperation>(workload.graph.ranks[0]->operations[0].body).kind,
        CollectiveKind::kAllGather);
}

TEST(NcclTestsErrors, NameTheLine) {
    const auto says = [](const std::string& rows) {
        const TemporaryFile file("log.txt", log_of(rows));
        return message({file.path()});
    };
    EXPECT_NE(says("").find("holds no row"), std::string::npos);
    EXPECT_NE(says("  1024  256\n").find("line 6: has fewer columns"), std::string::npos);
    EXPECT_NE(
        says("  1024 256 float sum -1 -3.0 1 1\n").find("line 6: holds cells that are not numbers"),
        std::string::npos);
}

std::string execution_trace(const std::string& name) {
    return R"({"schema": "1.0.1", "pid": 1, "nodes": [
{"name": "[thread]", "id": 2, "rf_id": 0, "input_shapes": [], "input_types": []},
{"name": ")" +
           name +
           R"JSON(", "id": 5, "rf_id": 1, "input_shapes": [[64, 32], [32, 16]], "input_types": ["Tensor(float)", "Tensor(float)"]}]})JSON";
}
std::string kineto() {
    return TraceText()
        .event("cpu_op", "aten::mm", "1", "8", "10", R"("External id": 3)")
        .launch("gemm", "10", "7", "20", "5")
        .text();
}

TEST(ExecutionTraces, GiveShapesToTheOperatorsOfTheirKinetoTrace) {
    const TemporaryFile trace("kineto.json", kineto());
    const TemporaryFile shapes("et.json", execution_trace("aten::mm"));
    const auto kernel = [](const TraceWorkload& workload) {
        for (const Operation& operation : workload.graph.ranks[0]->operations)
            if (const auto* found = std::get_if<KernelOperation>(&operation.body))
                return *found;
        return KernelOperation{};
    };
    EXPECT_EQ(kernel(read_traces({{trace.path()}})).byte_source, ByteSource::kClassDefault);
    const TraceWorkload paired = read_traces({{trace.path(), shapes.path()}});
    EXPECT_EQ(kernel(paired).byte_source, ByteSource::kShapes);
    EXPECT_EQ(kernel(paired).flops, 2.0 * 64 * 32 * 16);
    const std::string& note = paired.files[0].warnings.front();
    EXPECT_NE(note.find("1 of its 2 nodes"), std::string::npos) << note;
}

TEST(ExecutionTraces, BelongToOneTrace) {
    const TemporaryFile trace("kineto.json", kineto());
    const TemporaryFile other("et.json", execution_trace("aten::add"));
    EXPECT_NE(message({trace.path(), other.path()}).find("other operators"), std::string::npos);
    EXPECT_NE(message({other.path()}).find("operators without times"), std::string::npos);
    EXPECT_NE(message({other.path(), trace.path()}).find("operators without"), std::string::npos);
    const TemporaryFile twice(
        "twice.json",
        R"({"schema": "1", "nodes": [{"id": 1, "name": "a", "rf_id": 4}, {"id": 2, "name": "b", "rf_id": 4}]})");
    EXPECT_NE(
        message({trace.path(), twice.path()}).find("node 1: rf_id 4 appears twice"),
        std::string::npos);
}

TEST(ReadTraces, RecogniseByContentNotByName) {
    const auto format = [](const std::string& content) {
        const TemporaryFile file("trace.png", content);
        return recognise(file.path());
    };
    EXPECT_EQ(format(kineto()), TraceFormat::kKineto);
    EXPECT_EQ(format(execution_trace("a")), TraceFormat::kExecutionTrace);
    EXPECT_EQ(format(log_of(kAllReduce)), TraceFormat::kNcclTests);
    EXPECT_EQ(format("{\"type\":\"trace\",\"version\":1}\n"), TraceFormat::kOwn);
    EXPECT_EQ(format("SQLite format 3"), TraceFormat::kNsight);
    EXPECT_THROW(format("hello"), ConfigError);
    EXPECT_THROW(format(""), ConfigError);
}

}  // namespace
}  // namespace switchfold::other_traces_test
