// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "workloads/profile/trace_summary.h"
#include "workloads/readers/chakra/reader.h"
#include "workloads/readers/read_traces.h"
#include "workloads/tests/round_trip.h"
#include "workloads/tests/trace_file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace switchfold::chakra_test {
namespace {

using test_data::TemporaryFile;

std::string varint(std::uint64_t value) {
    std::string out;
    for (; value > 127; value >>= 7U)
        out += static_cast<char>((value & 0x7fU) | 0x80U);
    return out + static_cast<char>(value);
}
std::string number(unsigned field, std::uint64_t value) {
    return varint(field << 3U) + varint(value);
}
std::string bytes(unsigned field, const std::string& text) {
    return varint(field << 3U | 2U) + varint(text.size()) + text;
}
std::string framed(const std::string& message) {
    return varint(message.size()) + message;
}
std::string attribute(const std::string& name, std::uint64_t value) {
    return bytes(10, bytes(1, name) + number(9, value));
}
std::string attribute(const std::string& name, const std::string& value) {
    return bytes(10, bytes(1, name) + bytes(29, value));
}

constexpr unsigned kMetadata = 1;
constexpr unsigned kCompute = 4;
constexpr unsigned kSend = 5;
constexpr unsigned kReceive = 6;
constexpr unsigned kCollective = 7;

/// Writes Chakra traces as the protobuf library does.
class ChakraText {
public:
    explicit ChakraText(const std::string& metadata = bytes(1, "0.0.4")) :
        text_(framed(metadata)) {}
    ChakraText& node(
        std::uint64_t id, const std::string& name, unsigned type,
        const std::vector<std::uint64_t>& after, std::uint64_t start_us, std::uint64_t duration_us,
        const std::string& attributes = "") {
        std::string packed;
        for (const std::uint64_t before : after)
            packed += varint(before);
        text_ += framed(
            number(1, id) + bytes(2, name) + number(3, type) +
            (packed.empty() ? "" : bytes(5, packed)) + number(6, start_us) +
            number(7, duration_us) + attributes);
        return *this;
    }
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] TraceWorkload read() const {
        const TemporaryFile file("trace.0.et", text_);
        return read_traces({{file.path()}});
    }

private:
    std::string text_;
};

ChakraText sample() {
    ChakraText text;
    text.node(1, "thread", kMetadata, {}, 0, 0)
        .node(2, "aten::mm", kCompute, {1}, 10, 4, attribute("is_cpu_op", 1))
        .node(3, "gemm", kCompute, {2}, 20, 30, attribute("stream", 7) + attribute("num_ops", 1000))
        .node(
            4, "ncclAllReduce", kCollective, {3}, 50, 100,
            attribute("comm_type", std::uint64_t{0}) + attribute("comm_size", 4096) +
                attribute("pg_name", std::string("dp")))
        .node(5, "relu", kCompute, {3, 99}, 51, 5, attribute("stream", 7));
    return text;
}

ChakraText one_kernel(ChakraText text) {
    return text.node(7, "gemm", kCompute, {}, 1, 2);
}

TEST(ChakraVersions, TheMetadataMaySayMoreOrLess) {
    const std::string schema = bytes(2, bytes(1, "schema") + bytes(29, "symbolic_tensor_network"));
    for (const std::string& metadata :
         {bytes(1, "0.0.1"), bytes(1, "1.0.2-chakra.0.0.4"), bytes(1, "0.0.4") + schema, schema,
          std::string()}) {
        const TraceWorkload workload = one_kernel(ChakraText(metadata)).read();
        EXPECT_EQ(workload.files[0].kernels, 1U);
    }
}

TEST(ChakraVersions, AnAttributeMayBeOfAnyTypeOfNumber) {
    const double eight = 8;
    const float eight_too = 8;
    const auto fixed = [](unsigned field, unsigned wire, const void* from, std::size_t size) {
        return varint(field << 3U | wire) + std::string(static_cast<const char*>(from), size);
    };
    const std::vector<std::string> values{
        number(7, 8),                                // int32
        number(9, 8),                                // int64
        number(11, 8),                               // uint32
        number(13, 8),                               // uint64
        number(15, 16),                              // sint32
        number(17, 16),                              // sint64
        bytes(29, "8"),                              // string
        fixed(3, 1, &eight, sizeof eight),           // double
        fixed(5, 5, &eight_too, sizeof eight_too)};  // float
    for (const std::string& value : values) {
        ChakraText text;
        text.node(
            1, "all_reduce", kCollective, {}, 0, 9,
            attribute("comm_type", std::uint64_t{0}) + bytes(10, bytes(1, "comm_size") + value));
        const TraceWorkload workload = text.read();
        const Operation& operation = workload.graph.ranks[0]->operations[0];
        EXPECT_EQ(std::get<CollectiveOperation>(operation.body).bytes, Bytes(8));
    }
    ChakraText host;
    host.node(1, "aten::mm", kCompute, {}, 0, 9, bytes(10, bytes(1, "is_cpu_op") + number(27, 1)))
        .node(2, "gemm", kCompute, {1}, 9, 9, bytes(10, bytes(1, "is_cpu_op") + number(27, 0)));
    EXPECT_EQ(host.read().files[0].kernels, 1U);
}

TEST(Chakra, NodesBecomeOperationsWithTheirDependencies) {
    const TraceWorkload workload = sample().read();
    check(workload.graph);
    const auto& operations = workload.graph.ranks[0]->operations;
    ASSERT_EQ(operations.size(), 4U);
    EXPECT_EQ(std::get<HostDelayOperation>(operations[0].body).duration, microseconds(4));
    EXPECT_EQ(operations[1].dependencies, std::vector<std::uint32_t>{0});
    EXPECT_EQ(std::get<KernelOperation>(operations[1].body).isolated, microseconds(30));
    EXPECT_EQ(std::get<KernelOperation>(operations[1].body).flops, 1000);
    const auto& collective = std::get<CollectiveOperation>(operations[2].body);
    EXPECT_EQ(collective.bytes, Bytes(4096));
    EXPECT_EQ(collective.kind, CollectiveKind::kAllReduce);
    EXPECT_EQ(workload.graph.groups[collective.group].name, "dp");
    EXPECT_EQ(operations[3].dependencies, std::vector<std::uint32_t>{1});
    EXPECT_EQ(operations[3].stream, operations[1].stream);
    EXPECT_NE(operations[3].stream, operations[2].stream);
    const TraceFileReport& report = workload.files[0];
    EXPECT_EQ(report.events, 5U);
    EXPECT_EQ(report.dropped.at("metadata"), 1U);
    EXPECT_EQ(report.dropped.at("dependencies on nodes that are not there"), 1U);
    test_data::expect_same(workload, test_data::again(workload));
}

TEST(Chakra, WhatHasNoDurationGetsOneAndSaysSo) {
    const TraceWorkload workload =
        ChakraText()
            .node(1, "gemm", kCompute, {}, 0, 0, attribute("tensor_size", 1'000'000))
            .read();
    const auto& kernel = std::get<KernelOperation>(workload.graph.ranks[0]->operations[0].body);
    EXPECT_EQ(kernel.isolated, microseconds(1)) << "1 MB at 1 TB/s";
    EXPECT_EQ(kernel.duration_source, DurationSource::kCounts);
    EXPECT_NE(
        workload.files[0].warnings.back().find("1 kernels have no duration"), std::string::npos);
}

/// Like PyTorch traces from chakra_converter of December 2023: no start times, streams as threads,
/// control dependencies by the nodes' former numbers, and a collective that depends only on its
/// call.
TraceWorkload converted_from_pytorch() {
    const std::string host = attribute("is_cpu_op", 1) + attribute("tid", 1);
    const auto on_stream = [](std::uint64_t stream) {
        return attribute("is_cpu_op", std::uint64_t{0}) + attribute("tid", stream);
    };
    ChakraText text;
    text.node(1, "aten::mm(0)", kCompute, {}, 0, 5, host + bytes(4, varint(3)))
        .node(3, "gemm", kCompute, {1}, 0, 100, on_stream(7) + bytes(4, varint(1)))
        .node(4, "Memcpy DtoD (Device -> Device)", kCompute, {1}, 0, 0, on_stream(7))
        .node(5, "c10d::allreduce_(0)", kCollective, {1}, 0, 9, host + bytes(4, varint(5)))
        .node(
            6, "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)", kCollective, {5}, 0, 50,
            on_stream(14) + attribute("comm_type", std::uint64_t{0}) + attribute("comm_size", 4096))
        .node(7, "relu", kCompute, {5}, 0, 30, on_stream(7));
    return text.read();
}

TEST(Chakra, KernelsBesideCollectivesHaveNoTimeAloneUnlessTheirNodesSaySo) {
    ChakraText text = sample();  // relu runs beside the all-reduce for 5 us
    text.node(
            6, "told", kCompute, {5}, 60, 9, attribute("stream", 7) + attribute("is_time_alone", 1))
        .node(7, "touches", kCompute, {6}, 148, 9, attribute("stream", 7));
    const TraceWorkload workload = text.read();
    const auto source = [&](std::string_view name) {
        for (const Operation& operation : workload.graph.ranks[0]->operations)
            if (workload.graph.names[operation.name] == name)
                return std::get<KernelOperation>(operation.body).duration_source;
        throw std::runtime_error("no such kernel");
    };
    EXPECT_EQ(source("gemm"), DurationSource::kMeasuredAlone);
    EXPECT_EQ(source("relu"), DurationSource::kMeasuredOverlapped);
    EXPECT_EQ(source("told"), DurationSource::kMeasuredAlone);
    EXPECT_EQ(source("touches"), DurationSource::kMeasuredAlone);
}

TEST(Chakra, ANodeThatIsAGapDelaysTheNextOne) {
    ChakraText text;
    text.node(1, "gemm", kCompute, {}, 1, 2, attribute("stream", 7))
        .node(2, "wait", kCompute, {1}, 0, 5, attribute("is_cpu_op", 1) + attribute("is_gap", 1))
        .node(3, "relu", kCompute, {2}, 8, 1, attribute("stream", 7));
    const TraceWorkload workload = text.read();
    const auto& operations = workload.graph.ranks[0]->operations;
    ASSERT_EQ(operations.size(), 2U);
    EXPECT_EQ(operations[1].gap, microseconds(5));
    EXPECT_EQ(operations[1].dependencies, std::vector<std::uint32_t>{0});
}

TEST(ChakraFromPyTorch, ControlDependenciesThatCloseCirclesAreLeftOut) {
    const TraceWorkload workload = converted_from_pytorch();
    check(workload.graph);
    const TraceFileReport& report = workload.files[0];
    EXPECT_EQ(report.mended.at("control dependencies left out"), 3U);
    EXPECT_EQ(report.kernels, 2U);
    EXPECT_EQ(report.copies, 1U);
    EXPECT_EQ(report.collectives, 1U) << "the call moves nothing";
    EXPECT_EQ(report.streams, 2U);
}

TEST(ChakraFromPyTorch, ACollectiveWaitsForWhatWasLaunchedBeforeItsCall) {
    const TraceWorkload workload = converted_from_pytorch();
    const auto& operations = workload.graph.ranks[0]->operations;
    ASSERT_EQ(operations.size(), 6U);
    const auto& copy = std::get<CopyOperation>(operations[2].body);
    EXPECT_EQ(copy.kind, CopyKind::kDeviceToDevice);
    ASSERT_TRUE(std::holds_alternative<CollectiveOperation>(operations[4].body));
    EXPECT_EQ(operations[4].dependencies, (std::vector<std::uint32_t>{2, 3}));
    const auto& reduce = std::get<CollectiveOperation>(operations[4].body);
    EXPECT_EQ(reduce.bytes, Bytes(4096));
    EXPECT_EQ(reduce.measured, microseconds(50));
}

TEST(ChakraFromPyTorch, TimesFollowFromDurationsWhereNoNodeSaysWhenItBegan) {
    const TraceWorkload workload = converted_from_pytorch();
    const auto& measured = workload.measured[0];
    EXPECT_EQ(measured[1].start, microseconds(5));
    EXPECT_EQ(measured[4].start, microseconds(105)) << "behind the kernel";
    EXPECT_EQ(measured[5].end, microseconds(135)) << "beside the collective";
    EXPECT_EQ(workload.graph.provenance.measured_iteration, Time()) << "no real run took so long";
    EXPECT_TRUE(impossible_orders(workload).empty());
}

TEST(ChakraFromPyTorch, ControlDependenciesThatCloseNoneCount) {
    const TraceWorkload workload =
        ChakraText()
            .node(1, "a", kCompute, {}, 0, 1)
            .node(2, "b", kCompute, {1}, 0, 1)
            .node(3, "c", kCompute, {}, 0, 1, bytes(4, varint(2)) + attribute("stream", 9))
            .read();
    EXPECT_EQ(workload.graph.ranks[0]->operations[2].dependencies, (std::vector<std::uint32_t>{1}));
    EXPECT_TRUE(workload.files[0].mended.empty());
}

TEST(Chakra, AnyOrderOfTheNodesGivesTheSameGraph) {
    const TraceWorkload forwards =
        ChakraText().node(1, "a", kCompute, {}, 0, 1).node(2, "b", kCompute, {1}, 1, 1).read();
    const TraceWorkload backwards =
        ChakraText().node(2, "b", kCompute, {1}, 1, 1).node(1, "a", kCompute, {}, 0, 1).read();
    EXPECT_EQ(*forwards.graph.ranks[0], *backwards.graph.ranks[0]);
}

TEST(Chakra, SeveralFilesAreTheWorldByTheirNames) {
    const TemporaryFile one("trace.1.et", sample().text());
    const TemporaryFile zero("trace.0.et", sample().text());
    const TraceWorkload workload = read_traces({{one.path(), zero.path()}});
    ASSERT_EQ(workload.graph.ranks.size(), 2U);
    EXPECT_EQ(workload.files[0].file, zero.path().string());
    EXPECT_EQ(workload.graph.groups[0].ranks, (std::vector<std::uint32_t>{0, 1}));
}

TEST(ChakraMessages, TakeAsLongAsTheirNodesSayAndAreSummarised) {
    const std::string to_one = attribute("comm_dst", 1) + attribute("comm_size", 4096);
    const std::string of_one = attribute("comm_src", 1) + attribute("comm_size", 64);
    const TraceWorkload workload = ChakraText()
                                       .node(1, "gemm", kCompute, {}, 10, 20)
                                       .node(2, "send", kSend, {1}, 30, 7, to_one)
                                       .node(3, "send", kSend, {2}, 40, 5, to_one)
                                       .node(4, "recv", kReceive, {3}, 50, 3, of_one)
                                       .read();
    EXPECT_EQ(workload.graph.provenance.measured_iteration, microseconds(43));
    const TraceSummary summary = summarise(workload, 0);
    ASSERT_EQ(summary.collectives.size(), 2U);
    EXPECT_EQ(summary.collectives[0].kind, "send");
    EXPECT_EQ(summary.collectives[0].bytes, Bytes(4096));
    EXPECT_EQ(summary.collectives[0].count, 2U);
    EXPECT_EQ(summary.collectives[0].time, microseconds(12));
    EXPECT_EQ(summary.collectives[0].shortest, microseconds(5));
    EXPECT_EQ(summary.collectives[1].kind, "receive");
    EXPECT_EQ(summary.communication, microseconds(15));
}

std::string gathers(const std::vector<std::string>& groups) {
    ChakraText text;
    std::uint64_t id = 0;
    for (const std::string& group : groups) {
        ++id;
        text.node(
            id, "all_gather", kCollective, {}, id, 1,
            attribute("comm_type", 2) + attribute("comm_size", 1000) +
                (group.empty() ? "" : attribute("pg_name", group)));
    }
    return text.text();
}

/// Ranks and bytes of a rank's all-gathers.
std::vector<std::pair<std::vector<std::uint32_t>, std::uint64_t>>
gathered(const TraceWorkload& workload, std::size_t rank) {
    std::vector<std::pair<std::vector<std::uint32_t>, std::uint64_t>> found;
    for (const Operation& operation : workload.graph.ranks[rank]->operations)
        if (const auto* c = std::get_if<CollectiveOperation>(&operation.body))
            found.emplace_back(workload.graph.groups[c->group].ranks, c->bytes.count());
    return found;
}

using Ranks = std::vector<std::uint32_t>;

TEST(ChakraGroups, WhoUsesAGroupIsItsMemberIfAllRanksAreTraced) {
    const TemporaryFile zero("trace.0.et", gathers({"1", "3", ""}));
    const TemporaryFile one("trace.1.et", gathers({"1", "4", ""}));
    const TemporaryFile two("trace.2.et", gathers({"3", "2", ""}));
    const TemporaryFile three("trace.3.et", gathers({"4", "2", ""}));
    const TraceWorkload workload =
        read_traces({{zero.path(), one.path(), two.path(), three.path()}});
    check(workload.graph);
    const Ranks world{0, 1, 2, 3};
    using Gathered = std::vector<std::pair<Ranks, std::uint64_t>>;
    EXPECT_EQ(gathered(workload, 0), (Gathered{{{0, 1}, 2000}, {{0, 2}, 2000}, {world, 4000}}));
    EXPECT_EQ(gathered(workload, 3), (Gathered{{{1, 3}, 2000}, {{2, 3}, 2000}, {world, 4000}}));
    EXPECT_EQ(
        workload.files[0].warnings.back(),
        "no file names the members of groups 1, 3, 4, 2: they are the ranks that use them");
}

TEST(ChakraGroups, AFileBesideTheTracesNamesTheMembers) {
    const TemporaryFile groups("groups.json", R"( {"2": [3, 1], "1": [0, 1]} )");
    const TemporaryFile zero("trace.0.et", gathers({"1"}));
    const TraceWorkload workload = read_traces({{zero.path(), groups.path()}});
    ASSERT_EQ(workload.files.size(), 1U);
    EXPECT_EQ(workload.graph.provenance.world_size, 4U);
    EXPECT_EQ(gathered(workload, 0)[0].first, (Ranks{0, 1}));
    EXPECT_EQ(gathered(workload, 0)[0].second, 2000U);
    for (const std::string& warning : workload.files[0].warnings)
        EXPECT_EQ(warning.find("no file names"), std::string::npos) << warning;
}

TEST(ChakraGroups, UnknownMembersOfARunThatIsNotWholeAreTheWorldWithANote) {
    const TemporaryFile zero("trace.0.et", gathers({"1"}));
    const TemporaryFile three("trace.3.et", gathers({"1"}));
    const TraceWorkload workload = read_traces({{zero.path(), three.path()}});
    EXPECT_EQ(gathered(workload, 0)[0].first, (Ranks{0, 1, 2, 3}));
    EXPECT_EQ(
        workload.files[0].warnings.back(),
        "no file names the members of groups 1, and not all ranks are traced: all ranks are taken "
        "for each; a file of groups beside the traces, {\"1\": [0, 1]}, would name them");
    const TraceWorkload one = read_traces({{zero.path()}});
    EXPECT_NE(one.files[0].warnings.back().find("all ranks are taken for each"), std::string::npos);
}

TEST(ChakraGroups, AnotherRanksFileMaySayWhoTheMembersAre) {
    const std::string said = "[[{\"pg_name\": \"1\", \"ranks\": [0, 2]}]]";
    ChakraText zero;
    zero.node(9, "## process_group:init ##", kMetadata, {}, 0, 0, bytes(8, bytes(1, said)))
        .node(
            1, "all_gather", kCollective, {}, 1, 1,
            attribute("comm_type", 2) + attribute("comm_size", 1000) +
                attribute("pg_name", std::string("1")));
    const TemporaryFile first("trace.0.et", zero.text());
    const TemporaryFile other("trace.1.et", gathers({""}));
    const TemporaryFile last("trace.2.et", gathers({"1", ""}));
    const TraceWorkload workload = read_traces({{first.path(), other.path(), last.path()}});
    EXPECT_EQ(gathered(workload, 2)[0], gathered(workload, 0)[0]);
    EXPECT_EQ(gathered(workload, 2)[0], std::pair(Ranks{0, 2}, std::uint64_t{2000}));
}

std::string message(const std::string& content) {
    const TemporaryFile file("trace.0.et", content);
    try {
        static_cast<void>(read_traces({{file.path()}}));
    } catch (const ConfigError& error) {
        const std::string text = error.what();
        return text.substr(std::min(text.size(), file.path().string().size() + 2));
    }
    return "accepted";
}

TEST(ChakraErrors, NameTheNodes) {
    EXPECT_EQ(
        message(ChakraText()
                    .node(1, "a", kCompute, {3}, 0, 1)
                    .node(2, "b", kCompute, {1}, 0, 1)
                    .node(3, "c", kCompute, {2}, 0, 1)
                    .text()),
        "node 1: a (1) waits for c (3) waits for b (2) waits for a (1); expected no cycle of 3 "
        "nodes");
    EXPECT_EQ(
        message(
            ChakraText().node(1, "a", kCompute, {}, 0, 1).node(1, "b", kCompute, {}, 0, 1).text()),
        "node 1 (b): appears twice; expected each id once");
    EXPECT_NE(
        message(ChakraText().node(1, "g", kCollective, {}, 0, 1, attribute("comm_type", 12)).text())
            .find("node 1 (g): is a collective of type 12"),
        std::string::npos);
    EXPECT_NE(
        message(ChakraText().node(1, "s", kSend, {}, 0, 1).text()).find("has no comm_dst"),
        std::string::npos);
    EXPECT_NE(
        message(ChakraText().node(1, "a", 12, {}, 0, 1).text()).find("is of type 12"),
        std::string::npos);
    EXPECT_NE(
        message(ChakraText().node(1, "a", kCompute, {}, 0, 1ULL << 63U).text()).find("takes"),
        std::string::npos);
    EXPECT_NE(message(ChakraText().text()).find("holds no node that runs"), std::string::npos);
}

TEST(ChakraErrors, NameTheGroups) {
    const auto said = [](const std::string& groups) {
        const TemporaryFile file("groups.json", groups);
        const TemporaryFile zero("trace.0.et", gathers({"1"}));
        try {
            static_cast<void>(read_traces({{zero.path(), file.path()}}));
        } catch (const ConfigError& error) {
            const std::string text = error.what();
            return text.substr(std::min(text.size(), file.path().string().size() + 2));
        }
        return std::string("accepted");
    };
    EXPECT_EQ(
        said(R"({"1": [0], "2": 7})"),
        "/2: is not a list of ranks; expected the members of a process group");
    EXPECT_EQ(
        said(R"({"1": [0, -1]})"),
        "/1: holds elements that are not ranks; expected numbers from 0 to 65535");
    EXPECT_EQ(said(R"({"1": [0, 1, 0]})"), "/1: holds a rank twice; expected each once");
    EXPECT_NE(said(R"({"1": [0, 1)").find("expected"), std::string::npos);
    const TemporaryFile alone("groups.json", R"({"1": [0, 1]})");
    EXPECT_THROW(static_cast<void>(read_traces({{alone.path()}})), ConfigError);
}

TEST(ChakraErrors, ACutFileNeverGivesAnotherGraph) {
    const std::string whole = sample().text();
    const std::string all = message(whole);
    EXPECT_EQ(all, "accepted");
    std::size_t accepted = 0;
    for (std::size_t size = 0; size < whole.size(); ++size)
        accepted += message(whole.substr(0, size)) == "accepted" ? 1 : 0;
    EXPECT_LE(accepted, 4U) << "only between two nodes: the format has no end mark";
}

}  // namespace
}  // namespace switchfold::chakra_test
