// SPDX-License-Identifier: Apache-2.0
// Tests for logs of NCCL's Inspector.
#include "workloads/profile/rank_alignment.h"
#include "workloads/readers/read_traces.h"
#include "workloads/tests/read_text.h"
#include "workloads/tests/round_trip.h"
#include "workloads/tests/temporary_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace switchfold::nccl_inspector_test {
namespace {

using test_data::collective;
using test_data::error_of_text;
using test_data::read_text;
using test_data::TemporaryFile;

std::string header(const std::string& communicator, int rank, int ranks, int process = 1) {
    return fmt::format(
        R"("header":{{"id":"{}","rank":{},"n_ranks":{},"nnodes":1}},"metadata":{{"inspector_output_format_version":"v4.0","dump_timestamp_us":1748,"hostname":"h","pid":{}}})",
        communicator, rank, ranks, process);
}

std::string perf(const std::string& kind, int number, int bytes, const std::string& more = "") {
    return fmt::format(
        R"("coll_perf":{{"coll":"{}","coll_sn":{},"coll_msg_size_bytes":{},"coll_exec_time_us":250{}}})",
        kind, number, bytes, more);
}

std::string line(const std::string& first, const std::string& second) {
    return "{" + first + "," + second + "}\n";
}

TraceWorkload read(const std::string& text) {
    return read_text("nccl.log", text);
}

std::string message(const std::string& text) {
    return error_of_text("nccl.log", text);
}

TEST(NcclInspector, LinesBecomeCollectives) {
    const std::string here = header("0xabc", 2, 8);
    const TraceWorkload workload = read(
        line(here, perf("AllReduce", 12, 4096, R"(,"coll_algo":"RING","coll_proto":"LL128")")) +
        line(here, perf("AllGather", 3, 4096)) + line(here, perf("ReduceScatter", 3, 4096)) +
        line(here, perf("Broadcast", 0, 4096)));
    EXPECT_EQ(workload.files[0].format, "NCCL Inspector");
    EXPECT_EQ(workload.files[0].rank, 2U);
    EXPECT_EQ(workload.files[0].world_size, 8U);
    EXPECT_EQ(workload.files[0].collectives, 4U);
    EXPECT_EQ(collective(workload, 0).kind, CollectiveKind::kAllReduce);
    EXPECT_EQ(collective(workload, 0).bytes, Bytes(4096));
    EXPECT_EQ(collective(workload, 0).measured, microseconds(250));
    EXPECT_EQ(collective(workload, 0).algorithm.text(), "ring");
    EXPECT_EQ(collective(workload, 0).protocol.text(), "ll128");
    // NCCL tells the part of a rank; nccl-tests counts all.
    EXPECT_EQ(collective(workload, 1).bytes, Bytes(8 * 4096));
    EXPECT_EQ(collective(workload, 2).bytes, Bytes(8 * 4096));
    EXPECT_EQ(collective(workload, 3).bytes, Bytes(4096));
    EXPECT_EQ(workload.graph.groups[0].ranks.size(), 8U);
    test_data::expect_same(workload, test_data::again(workload));
}

TEST(NcclInspector, StatisticsHoldTheHeaderOfTheLinesBehindThem) {
    const TraceWorkload workload = read(
        line(header("0xabc", 1, 2), R"("dump_stats":{"coll_dropped_since_last_dump":5})") + "{" +
        perf("AllReduce", 1, 64) + "}\n{" + R"("proxy_trace":{}})" + "\n");
    EXPECT_EQ(workload.files[0].rank, 1U);
    EXPECT_EQ(workload.files[0].collectives, 1U);
    EXPECT_EQ(workload.files[0].dropped.at("records of proxies"), 1U);
    bool told = false;
    for (const std::string& note : workload.files[0].warnings)
        told = told || note.find("lost 5 records") != std::string::npos;
    EXPECT_TRUE(told);
}

std::string at(int us) {
    return fmt::format(
        R"(,"event_trace_ts":{{"coll_start_ts":1,"kernel_events":[{{"channel_id":0,"kernel_start_ts":{}}},{{"channel_id":1,"kernel_start_ts":{}}}]}})",
        us + 1, us);
}

TEST(NcclInspector, VerboseLinesSayWhenAndInWhichOrder) {
    const std::string world = header("0xabc", 0, 4);
    const std::string pair = header("0xdef", 0, 2);
    const TraceWorkload workload = read(
        line(world, perf("AllReduce", 1, 64, at(2000))) +
        line(pair, perf("AllReduce", 1, 64, at(1000))));
    const auto& operations = workload.graph.ranks[0]->operations;
    EXPECT_EQ(workload.graph.groups[collective(workload, 0).group].name, "communicator 0xdef");
    EXPECT_EQ(operations[1].gap, microseconds(750)) << "it began 1,000 us later and 250 us passed";
    EXPECT_EQ(operations[1].dependencies.size(), 1U);
    EXPECT_EQ(workload.measured[0][1].start, microseconds(1000));
}

TEST(NcclInspector, CommunicatorsOfRanksThatAreNotTracedLieAtEqualDistances) {
    // Rank 5 of 8: second of a pair of neighbours, and third of four that are two apart.
    const TraceWorkload workload = read(
        line(header("0xaaa", 5, 8), perf("AllReduce", 1, 64)) +
        line(header("0xbbb", 1, 2), perf("AllReduce", 1, 64)) +
        line(header("0xccc", 2, 4), perf("AllReduce", 1, 64)));
    ASSERT_EQ(workload.graph.groups.size(), 3U);
    EXPECT_EQ(workload.graph.groups[1].ranks, (std::vector<std::uint32_t>{4, 5}));
    EXPECT_EQ(workload.graph.groups[2].ranks, (std::vector<std::uint32_t>{1, 3, 5, 7}));
    EXPECT_EQ(workload.files[0].rank, 5U);
}

TEST(NcclInspector, SeveralProcessesAreRanksOfOneRun) {
    // Two logs of two processes each; a pair of ranks that lie apart, 1 and 3.
    const TemporaryFile first(
        "a.log", line(header("0xabc", 0, 4, 10), perf("AllReduce", 5, 64)) +
                     line(header("0xabc", 1, 4, 11), perf("AllReduce", 5, 64)) +
                     line(header("0xdef", 0, 2, 11), perf("AllGather", 0, 64)));
    const TemporaryFile second(
        "b.log", line(header("0xabc", 3, 4, 13), perf("AllReduce", 5, 64)) +
                     line(header("0xdef", 1, 2, 13), perf("AllGather", 0, 64)) +
                     line(header("0xabc", 2, 4, 12), perf("AllReduce", 5, 64)) +
                     line(header("0xabc", 2, 4, 12), perf("AllReduce", 6, 64)));
    const TraceWorkload workload = read_traces({{second.path(), first.path()}});
    check(workload.graph);
    ASSERT_EQ(workload.files.size(), 4U);
    EXPECT_EQ(workload.files[3].file, second.path().string());
    const RankAlignment alignment = align_ranks(workload);
    EXPECT_TRUE(alignment.problems.empty());
    EXPECT_TRUE(alignment.missing_ranks.empty());
    EXPECT_EQ(alignment.collectives.size(), 2U);
    EXPECT_EQ(workload.files[2].dropped.at("collectives that other ranks' files do not hold"), 1U);
    bool found = false;
    for (const Group& group : workload.graph.groups)
        found = found || group.ranks == std::vector<std::uint32_t>{1, 3};
    EXPECT_TRUE(found);
}

TEST(NcclInspector, AProcessMayDriveSeveralGpus) {
    const TraceWorkload workload = read(
        line(header("0xabc", 0, 2), perf("AllReduce", 1, 64)) +
        line(header("0xabc", 1, 2), perf("AllReduce", 1, 64)));
    EXPECT_EQ(workload.graph.ranks.size(), 2U);
    EXPECT_TRUE(align_ranks(workload).problems.empty());
}

TEST(NcclInspector, SendsAndReceivesGoToRanksOfTheRun) {
    const auto transfer = [](const char* kind, int peer) {
        return fmt::format(
            R"("p2p_perf":{{"p2p":"{}","p2p_sn":0,"p2p_peer":{},"p2p_msg_size_bytes":512,"p2p_exec_time_us":4}})",
            kind, peer);
    };
    const TraceWorkload workload = read(
        line(header("0xaaa", 5, 8), perf("AllReduce", 1, 64)) +
        line(header("0xccc", 2, 4), transfer("Send", 3)) +
        line(header("0xccc", 2, 4), transfer("Recv", 0)) +
        line(header("0xccc", 2, 4), transfer("Send", 2)));
    const auto& operations = workload.graph.ranks[0]->operations;
    ASSERT_EQ(operations.size(), 3U);
    EXPECT_EQ(std::get<SendOperation>(operations[1].body).peer, 7U);
    EXPECT_EQ(std::get<ReceiveOperation>(operations[2].body).peer, 1U);
    EXPECT_EQ(std::get<ReceiveOperation>(operations[2].body).bytes, Bytes(512));
    EXPECT_EQ(workload.files[0].dropped.at("sends and receives of a rank to itself"), 1U);
}

TEST(NcclInspectorErrors, NameTheLine) {
    const std::string good = line(header("0xabc", 0, 2), perf("AllReduce", 1, 64));
    EXPECT_NE(message(good + "{\"coll_perf\":").find("line 2: is not JSON"), std::string::npos);
    EXPECT_NE(
        message(good + line(header("0xabc", 2, 2), perf("AllReduce", 1, 64)))
            .find("line 2: /header/rank: is 2 of 2 ranks"),
        std::string::npos);
    EXPECT_NE(
        message(good + line(header("0xabc", 1, 2), R"("coll_perf":{"coll":"AllReduce"})"))
            .find("line 2: /coll_perf/coll_msg_size_bytes: is missing"),
        std::string::npos);
    EXPECT_NE(
        message("{" + perf("AllReduce", 1, 64) + "}\n").find("line 1: /header: is missing"),
        std::string::npos);
    EXPECT_NE(
        message(good + line(header("0xabc", 1, 4, 2), perf("AllReduce", 1, 64)))
            .find("says that communicator 0xabc has 4 ranks where"),
        std::string::npos);
    EXPECT_NE(
        message(good + line(header("0xabc", 0, 2, 2), perf("AllReduce", 1, 64)))
            .find("holds rank 0 of communicator 0xabc, which"),
        std::string::npos);
    EXPECT_NE(
        message(good + "{\"other\": 1}\n").find("line 2: holds no coll_perf"), std::string::npos);
    // A process with two GPUs and a communicator of one of them.
    EXPECT_NE(
        message(
            good + line(header("0xabc", 1, 2), perf("AllReduce", 1, 64)) +
            line(header("0xdef", 0, 3), perf("AllReduce", 1, 64)))
            .find("of a process with several GPUs"),
        std::string::npos);
}

}  // namespace
}  // namespace switchfold::nccl_inspector_test
