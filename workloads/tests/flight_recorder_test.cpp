// SPDX-License-Identifier: Apache-2.0
// Tests for dumps of PyTorch's flight recorder.
#include "workloads/profile/rank_alignment.h"
#include "workloads/readers/read_traces.h"
#include "workloads/tests/read_text.h"
#include "workloads/tests/round_trip.h"
#include "workloads/tests/temporary_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace switchfold::flight_recorder_test {
namespace {

using test_data::collective;
using test_data::error_of_text;
using test_data::read_text;
using test_data::TemporaryFile;

struct Call {
    std::string name = "nccl:all_reduce";
    int number = 1;
    std::string in = "[[16, 4]]";
    std::string out = "[[16, 4]]";
    std::string type = "Float";
    std::int64_t created_us = 0;
    std::string group = "0";
    std::string more = R"("duration_ms": 0.5,)";
};

std::string entry(const Call& call) {
    return fmt::format(
        R"({{"record_id": 0, "process_group": ["{}", "d"], "collective_seq_id": {}, "p2p_seq_id": 1,
 "profiling_name": "{}", "time_created_ns": {}, {} "input_sizes": {}, "input_dtypes": ["{}", "{}"],
 "output_sizes": {}, "output_dtypes": ["{}", "{}"], "state": "completed", "is_p2p": false}})",
        call.group, call.number, call.name, 1'724'779'239'000'000'000 + call.created_us * 1000,
        call.more, call.in, call.type, call.type, call.out, call.type, call.type);
}

const std::string kWorld = R"("0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"})";

/// As the dump writes it: in the order of its keys.
std::string dump(const std::vector<Call>& calls, const std::string& groups = kWorld) {
    std::string entries;
    for (const Call& call : calls)
        entries += (entries.empty() ? "" : ",\n") + entry(call);
    return fmt::format(
        R"({{"comm_lib_version": "2.26", "entries": [{}], "pg_config": {{{}}}, "pg_status": {{}}, "version": "2.5"}})",
        entries, groups);
}

TraceWorkload read(const std::string& text, const std::string& name = "trace_rank_0.json") {
    return read_text(name, text);
}

std::string message(const std::string& text, const std::string& name = "trace_rank_0.json") {
    return error_of_text(name, text);
}

bool notes(const TraceWorkload& workload, const std::string& word) {
    for (const std::string& note : workload.files[0].warnings)
        if (note.find(word) != std::string::npos)
            return true;
    return false;
}

TEST(FlightRecorder, EntriesBecomeCollectivesAsNcclTestsCountsThem) {
    const TraceWorkload workload = read(dump(
        {{},
         {.name = "nccl:_all_gather_base", .number = 2, .out = "[[64, 4]]"},
         {.name = "nccl:_all_gather_base", .number = 3, .out = "[]"},
         {.name = "nccl:_reduce_scatter_base", .number = 4, .out = "[[4, 4]]", .type = "BFloat16"},
         {.name = "nccl:all_to_all", .number = 5, .in = "[[8], [8]]", .out = "[[8], [8]]"},
         {.name = "nccl:gather", .number = 6, .in = "[[8]]", .out = "[]"},
         {.name = "nccl:barrier", .number = 7},
         {.name = "nccl:coalesced", .number = 8, .in = "[]", .out = "[]"}}));
    EXPECT_EQ(workload.files[0].format, "PyTorch flight recorder");
    EXPECT_EQ(workload.files[0].world_size, 4U);
    ASSERT_EQ(workload.files[0].collectives, 6U);
    EXPECT_EQ(collective(workload, 0).bytes, Bytes(256));
    EXPECT_EQ(collective(workload, 0).measured, microseconds(500));
    EXPECT_EQ(collective(workload, 1).kind, CollectiveKind::kAllGather);
    EXPECT_EQ(collective(workload, 1).bytes, Bytes(1024));
    EXPECT_EQ(collective(workload, 2).bytes, Bytes(1024)) << "four times the part of a rank";
    EXPECT_EQ(collective(workload, 3).bytes, Bytes(128));
    EXPECT_EQ(collective(workload, 3).datatype, Datatype::kBfloat16);
    EXPECT_EQ(collective(workload, 4).bytes, Bytes(64));
    EXPECT_EQ(collective(workload, 5).kind, CollectiveKind::kGather);
    EXPECT_EQ(collective(workload, 5).bytes, Bytes(128));
    EXPECT_EQ(workload.files[0].dropped.at("barriers and calls of unknown kind"), 1U);
    test_data::expect_same(workload, test_data::again(workload));
}

TEST(FlightRecorder, CallsBeginWhenTheyWereMade) {
    const TraceWorkload workload = read(dump(
        {{.created_us = 10}, {.number = 2, .created_us = 100}, {.number = 3, .created_us = 2010}}));
    const auto& measured = workload.measured[0];
    EXPECT_EQ(measured[1].start, microseconds(500)) << "behind the first, which takes 500 us";
    EXPECT_EQ(measured[2].start, microseconds(2000));
    EXPECT_EQ(workload.graph.ranks[0]->operations[2].gap, microseconds(1000));
    EXPECT_TRUE(notes(workload, "starts are those of the calls"));
    EXPECT_FALSE(notes(workload, "TORCH_NCCL_ENABLE_TIMING"));
    EXPECT_TRUE(notes(read(dump({{.more = ""}})), "TORCH_NCCL_ENABLE_TIMING"));
}

TEST(FlightRecorder, UnknownTypesLeaveSizesUnknown) {
    const TraceWorkload workload = read(dump({{.type = "Mystery"}}));
    EXPECT_EQ(collective(workload, 0).size_source, SizeSource::kEstimatedFromDuration);
    EXPECT_EQ(collective(read(dump({{.type = "ComplexFloat"}})), 0).bytes, Bytes(512));
}

TEST(FlightRecorder, RanksJoinByTheirNumbers) {
    const std::string groups = kWorld + R"(, "1": {"name": "1", "desc": "tp", "ranks": [2, 3]})";
    const TemporaryFile second(
        "nccl_trace_rank_3.json",
        dump({{.number = 8, .created_us = 0}, {.number = 1, .group = "1"}}, groups));
    const TemporaryFile first(
        "nccl_trace_rank_2.json",
        dump({{.number = 7}, {.number = 8}, {.number = 1, .group = "1"}}, groups));
    const TraceWorkload workload = read_traces({{second.path(), first.path()}});
    check(workload.graph);
    ASSERT_EQ(workload.files.size(), 2U);
    EXPECT_EQ(workload.files[0].rank, 2U);
    EXPECT_EQ(workload.files[0].file, first.path().string());
    EXPECT_EQ(workload.files[0].dropped.at("collectives that other ranks' files do not hold"), 1U);
    const RankAlignment alignment = align_ranks(workload);
    EXPECT_TRUE(alignment.problems.empty());
    EXPECT_EQ(alignment.collectives.size(), 2U);
    EXPECT_EQ(alignment.missing_ranks, (std::vector<std::uint32_t>{0, 1}));
}

TEST(FlightRecorder, SendsAndReceivesNameTheirPeers) {
    const std::string groups = kWorld + R"(, "1": {"name": "1", "desc": "pp", "ranks": "[1, 3]"})";
    const TraceWorkload workload = read(
        dump(
            {{.name = "nccl:send 1->0", .group = "1"},
             {.name = "nccl:recv 1<-0", .out = "[[2]]", .group = "1"},
             {.name = "nccl:send 1->1", .group = "1"}},
            groups),
        "rank3.json");
    const auto& operations = workload.graph.ranks[0]->operations;
    ASSERT_EQ(operations.size(), 2U);
    EXPECT_EQ(std::get<SendOperation>(operations[0].body).peer, 1U);
    EXPECT_EQ(std::get<SendOperation>(operations[0].body).bytes, Bytes(256));
    EXPECT_EQ(std::get<ReceiveOperation>(operations[1].body).peer, 1U);
    EXPECT_NE(operations[0].stream, operations[1].stream);
}

const std::string kTwo = R"("0": {"name": "0", "desc": "default_pg", "ranks": [0, 1]})";

std::vector<std::uint64_t> parts_of(const TraceWorkload& workload) {
    const CollectiveOperation& call = collective(workload, 0);
    return call.exchange == 0 ? std::vector<std::uint64_t>()
                              : workload.graph.exchanges.at(call.exchange - 1).bytes;
}

/// A list of tensors has one for each peer. A rank whose own parts are equal states them too.
TEST(FlightRecorder, ListsOfTensorsAreTheParts) {
    const auto call = [](const char* in, const char* out) {
        return dump({{.name = "nccl:all_to_all", .in = in, .out = out}}, kTwo);
    };
    const TemporaryFile first("trace_rank_0.json", call("[[8], [8]]", "[[8], [1, 3]]"));
    const TemporaryFile second("trace_rank_1.json", call("[[3], [20]]", "[[8], [20]]"));
    const TraceWorkload workload = read_traces({{first.path(), second.path()}});
    check(workload.graph);
    EXPECT_EQ(parts_of(workload), (std::vector<std::uint64_t>{32, 32, 12, 80}));
    EXPECT_EQ(collective(workload, 0).bytes, Bytes(64));
    EXPECT_FALSE(notes(workload, "all-to-alls"));
    test_data::expect_same(workload, test_data::again(workload));
    // One of them alone knows its own parts.
    const TraceWorkload one = read_traces({{second.path()}});
    constexpr std::uint64_t kUnknown = UnevenExchange::kUnknown;
    EXPECT_EQ(parts_of(one), (std::vector<std::uint64_t>{kUnknown, 32, 12, 80}));
}

/// Single tensors state sums: of all ranks, they tell parts in proportion.
TEST(FlightRecorder, SumsOfAllRanksTellPartsInProportion) {
    const auto call = [](const char* in, const char* out) {
        return dump({{.name = "nccl:all_to_all", .in = in, .out = out}}, kTwo);
    };
    const TemporaryFile first("trace_rank_0.json", call("[[12]]", "[[5, 4]]"));
    const TemporaryFile second("trace_rank_1.json", call("[[18]]", "[[10]]"));
    const TraceWorkload workload = read_traces({{first.path(), second.path()}});
    check(workload.graph);
    EXPECT_EQ(parts_of(workload), (std::vector<std::uint64_t>{32, 16, 48, 24}));
    EXPECT_TRUE(notes(workload, "in proportion to what that one receives"));
    EXPECT_FALSE(notes(workload, "unequal parts"));
    // Sums that do not add up tell nothing.
    const TemporaryFile other("trace_rank_1.json", call("[[18]]", "[[11]]"));
    const TraceWorkload wrong = read_traces({{first.path(), other.path()}});
    EXPECT_TRUE(notes(wrong, "all-to-alls of unequal parts"));
    // Equal ones stay equal.
    const TemporaryFile even("trace_rank_0.json", call("[[12]]", "[[12]]"));
    const TemporaryFile also("trace_rank_1.json", call("[[12]]", "[[12]]"));
    EXPECT_TRUE(parts_of(read_traces({{even.path(), also.path()}})).empty());
}

TEST(FlightRecorder, TellsWhatItTookForGranted) {
    EXPECT_TRUE(notes(read(dump({{}}), "a.json"), "its place among the files"));
    EXPECT_TRUE(notes(
        read(dump({{.name = "nccl:all_to_all", .in = "[[8], [24]]", .out = "[[8], [8]]"}})),
        "all-to-alls of unequal parts"));
    EXPECT_TRUE(notes(
        read(dump({{.name = "nccl:all_to_all", .in = "[[8]]", .out = "[[12]]"}})),
        "all-to-alls of unequal parts"));
    EXPECT_TRUE(notes(read(dump({{.group = "9"}})), "does not list process group 9"));
}

TEST(FlightRecorderErrors, NameThePointer) {
    EXPECT_NE(message(dump({})).find("/entries: is missing or empty"), std::string::npos);
    EXPECT_NE(
        message(dump({{}, {.in = "[[-1]]"}}))
            .find("/entries/1/input_sizes: holds -1; expected sizes"),
        std::string::npos);
    EXPECT_NE(
        message(dump({{.in = "[[999999999, 999999999]]"}})).find("more than 256 TiB"),
        std::string::npos);
    EXPECT_NE(
        message(dump({{.name = "nccl:send"}, {.name = "nccl:send 0-1"}}))
            .find("/entries/1/profiling_name: is nccl:send 0-1"),
        std::string::npos);
    EXPECT_NE(
        message(dump({{}}, R"("0": {"name": "0", "desc": "", "ranks": "[0, x]"})"))
            .find("/pg_config/0/ranks: is \"[0, x]\""),
        std::string::npos);
    EXPECT_NE(message(dump({{}}), "trace_rank_4.json").find("names 4 ranks"), std::string::npos);
    EXPECT_NE(
        message(
            dump({{.group = "1"}}, kWorld + R"(, "1": {"name": "1", "desc": "", "ranks": [2, 3]})"))
            .find("/pg_config/1: does not hold rank 0"),
        std::string::npos);
    const std::string whole = dump({{}});
    EXPECT_NE(message(whole.substr(0, whole.size() / 2)).find("ends too early"), std::string::npos);
}

}  // namespace
}  // namespace switchfold::flight_recorder_test
