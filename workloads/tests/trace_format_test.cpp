// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/json.h"
#include "workloads/readers/trace_format/trace_file.h"
#include "workloads/tests/random_graph.h"
#include "workloads/tests/round_trip.h"
#include "workloads/tests/trace_file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>

namespace switchfold::trace_format_test {
namespace {

using test_data::again;
using test_data::expect_same;
using test_data::TemporaryFile;
using test_data::TraceText;

TraceWorkload sample() {
    return TraceText()
        .launch("gemm \\\"quoted\\\" \\u00e9", "10", "7", "20", "5")
        .launch(
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "12", "20", "26", "50",
            R"("In msg nelems": 1000, "dtype": "Float", "Group size": 2)")
        .launch("relu", "14", "7", "30", "9.125")
        .read();
}

TEST(TraceFormat, AKinetoTraceComesBackTheSame) {
    const TraceWorkload workload = sample();
    expect_same(workload, again(workload));
    expect_same(workload, again(workload, "trace.jsonl"));
}

TEST(TraceFormat, SameWorkloadSameBytes) {
    const TraceWorkload workload = sample();
    const TemporaryFile a("a.swt", "");
    const TemporaryFile b("b.swt", "");
    write_trace(workload, a.path(), "test");
    write_trace(workload, b.path(), "test");
    EXPECT_EQ(test_data::content_of(a.path()), test_data::content_of(b.path()));
    EXPECT_EQ(test_data::content_of(a.path()).substr(0, 4), "\x28\xb5\x2f\xfd");
}

RC_GTEST_PROP(TraceFormatProperty, AnyGraphComesBackTheSame, ()) {
    TraceWorkload workload;
    RankGraph rank = test_data::random_rank();
    RC_PRE(!rank.operations.empty());
    workload.graph = test_data::graph_of(rank);
    workload.graph.steps = rank.operations.back().step + 1;
    workload.files.resize(1);
    workload.files[0].steps = workload.graph.steps;
    for (const Operation& operation : rank.operations) {
        const Time start = nanoseconds(operation.name);
        const auto* kernel = std::get_if<KernelOperation>(&operation.body);
        const auto* collective = std::get_if<CollectiveOperation>(&operation.body);
        const Time took = kernel ? kernel->measured : collective ? collective->measured : Time();
        workload.measured.resize(1);
        workload.measured[0].push_back({start, start + took});
    }
    const TraceWorkload back = again(workload);
    RC_ASSERT(*back.graph.ranks[0] == rank);
    RC_ASSERT(back.measured == workload.measured);
    RC_ASSERT(back.graph.groups == workload.graph.groups);
}

TEST(TraceFormat, ExchangesAndGivenTimesComeBackTheSame) {
    TraceWorkload workload = sample();
    UnevenExchange exchange = UnevenExchange::of(2);
    exchange.at(0, 1) = 1'000'000'007;
    exchange.at(1, 1) = 0;
    workload.graph.exchanges = {UnevenExchange::of(1), exchange};
    auto rank = std::make_shared<RankGraph>(*workload.graph.ranks[0]);
    int changed = 0;
    for (Operation& operation : rank->operations)
        if (auto* collective = std::get_if<CollectiveOperation>(&operation.body)) {
            collective->kind = CollectiveKind::kAllToAll;
            collective->exchange = 2;
            collective->given = microseconds(17);
            collective->holds_blocks = true;
            ++changed;
        }
    ASSERT_GT(changed, 0);
    ASSERT_EQ(workload.graph.groups[0].ranks.size(), 2U);
    workload.graph.ranks[0] = rank;
    expect_same(workload, again(workload));
}

/// The reader's error message for these lines, without the file's name.
std::string message(const std::string& lines) {
    const TemporaryFile file("trace.jsonl", lines);
    try {
        static_cast<void>(read_trace(file.path()));
    } catch (const ConfigError& error) {
        const std::string text = error.what();
        return text.substr(std::min(text.size(), file.path().string().size() + 2));
    }
    return "accepted";
}

const std::string kBegin = R"({"type":"trace","version":1}
{"type":"name","text":"gemm"}
{"type":"group","name":"world","ranks":[0,1]}
{"type":"rank","rank":0}
{"type":"stream","name":"7"}
)";
std::string with(const std::string& operation) {
    return kBegin + operation + "\n{\"type\":\"end\",\"records\":6}\n";
}

TEST(TraceFormatErrors, SmallestTrace) {
    EXPECT_EQ(
        message(with(R"({"type":"kernel","name":0,"stream":0,"duration_ps":5})")), "accepted");
    EXPECT_EQ(
        message(with(R"({ "name":0, "stream":0, "bytes":8, "kind":"all_reduce", "type":"collective",
"group":0,"sequence":0})")
                    .replace(0, 0, ""))
            .find("line 6: is malformed"),
        0U)
        << "a record over two lines";
}

TEST(TraceFormatErrors, SayLineKeyAndWhatWasExpected) {
    const auto says = [](const std::string& operation, const std::string& text) {
        EXPECT_EQ(message(with(operation)).find(text), 0U) << message(with(operation));
    };
    says(
        R"({"type":"kernel","name":0,"stream":0,"grids":[1]})",
        "line 6/grids: is not a key of a kernel record; did you mean \"grid\"?");
    says(R"({"type":"kernel","name":0,"stream":0,"grid":[1,0]})", "line 6/grid: holds a zero");
    says(R"({"type":"kernel","name":0,"stream":0,"grid":[1,1,1,1]})", "line 6/grid: has more than");
    says(
        R"({"type":"kernel","name":0,"stream":0,"gap_ps":-1})", "line 6/gap_ps: is something else");
    says(R"({"type":"kernel","name":0,"stream":0,"gap_ps":1.5})", "line 6/gap_ps: is something");
    says(R"({"type":"kernel","name":0,"stream":4294967296})", "line 6/stream: is something else");
    says(R"({"type":"kernel","name":0,"stream":0,"stream":0})", "line 6/stream: appears twice");
    says(R"({"type":"kernel","name":0})", "line 6/stream: is missing; a kernel record needs it");
    says(R"({"type":"kernel","name":1,"stream":0})", "line 6/name: is 1; no name has that number");
    says(R"({"type":"kernel","name":0,"stream":1})", "line 6/stream: is 1; this rank has no such");
    says(R"({"type":"kernel","name":0,"stream":0,"step":1})", "line 6/step: is 1; the trace has");
    says(
        R"({"type":"kernel","name":0,"stream":0,"after":[1]})",
        "line 6/after/0: gemm is 1 operations back of number 0");
    says(R"({"type":"kernel","name":0,"stream":0,"after":[0]})", "line 6/after/0: gemm is 0");
    says(
        R"({"type":"kernel","name":0,"stream":0,"phase":"forwards"})",
        "line 6/phase: is something else; expected one of: other, forward");
    says(
        R"({"type":"kernel","name":0,"stream":0,"duration_ps":9223372036854775808})",
        "line 6: holds a time of more than 53 days");
    says(
        R"({"type":"collective","name":0,"stream":0,"kind":"all_reduce","group":0,"sequence":0,"peers_late_ps":9223372036854775808})",
        "line 6/peers_late_ps: is more than 53 days");
    says(
        R"({"type":"collective","name":0,"stream":0,"kind":"all_reduce","group":1,"sequence":0})",
        "line 6/group: is 1; no group");
    says(R"({"type":"kernels","name":0})", "line 6/type: is \"kernels\", which names no record");
    says(R"({"name":0})", "line 6/type: is missing");
    says(R"({"type":"kernel","name":0,"stream":0} {})", "line 6: ");
    says("[]", "line 6: is malformed");
    says("", "line 6: is malformed");
}

TEST(TraceFormatErrors, OfExchangesAndGivenTimes) {
    const auto says = [](const std::string& exchange, const std::string& more, const char* text) {
        const std::string lines = std::string(R"({"type":"trace","version":3}
{"type":"name","text":"a2a"}
{"type":"group","name":"world","ranks":[0,1]}
)") + exchange +
                                  R"(
{"type":"rank","rank":0,"world_size":2}
{"type":"stream","name":"7"}
{"type":"collective","name":0,"stream":0,"group":0,"sequence":0,"kind":)" +
                                  more + "}\n{\"type\":\"end\",\"records\":7}\n";
        EXPECT_EQ(message(lines).find(text), 0U) << message(lines);
    };
    const std::string good =
        R"({"type":"exchange","ranks":2,"bytes":[0,1,2,18446744073709551615]})";
    says(good, R"("all_to_all","exchange":0,"given_ps":5,"holds_blocks":true)", "accepted");
    says(good, R"("all_to_all","exchange":1)", "line 7/exchange: is 1; no exchange has");
    says(good, R"("all_gather","exchange":0)", "line 7/exchange: is given to another kind");
    says(good, R"("all_to_all","holds_blocks":true)", "line 7/holds_blocks: is set without given");
    says(
        good, R"("all_to_all","given_ps":9223372036854775808)",
        "line 7/given_ps: is more than 53 days");
    says(
        R"({"type":"exchange","ranks":1,"bytes":[4]})", R"("all_to_all","exchange":0)",
        "line 7/exchange: is of 1 ranks and the group has 2");
    says(
        R"({"type":"exchange","ranks":2,"bytes":[4,4,4]})", R"("all_to_all")",
        "line 4/bytes: has 3 numbers for 2 ranks");
    says(
        R"({"type":"exchange","ranks":1,"bytes":[9223372036854775808]})", R"("all_to_all")",
        "line 4/bytes/0: is 9223372036854775808; expected");
}

TEST(TraceFormatErrors, OrderOfRecords) {
    EXPECT_EQ(message(R"({"type":"name","text":"a"})").find("line 1/type: is not trace"), 0U);
    EXPECT_EQ(
        message("{\"type\":\"trace\",\"version\":4}\n")
            .find("line 1/version: is 4; expected 1 to 3"),
        0U);
    EXPECT_EQ(message("").find("line 0: has no end record"), 0U);
    EXPECT_EQ(message(kBegin).find("line 5: has no end record"), 0U);
    EXPECT_NE(
        message(kBegin + "{\"type\":\"end\",\"records\":5}\n").find("a rank without operations"),
        std::string::npos);
    EXPECT_NE(
        message(kBegin + "{\"type\":\"end\",\"records\":4}\n").find("/records: is 4 after 5"),
        std::string::npos);
}

TEST(TraceFormatErrors, ACutFileNeverPasses) {
    const TemporaryFile file("trace.swt", "");
    write_trace(sample(), file.path(), "test");
    const std::string whole = test_data::content_of(file.path());
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_NE(message(whole.substr(0, size)), "accepted") << size;
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string broken = whole;
        broken[at] = static_cast<char>(~broken[at]);
        // Some bits of the frame's header do not matter. The checksum detects changes to the rest.
        if (at > 8) {
            EXPECT_NE(message(broken), "accepted") << at;
        }
    }
}

TEST(TraceFormatErrors, AnInflatingFileHasAnEnd) {
    const TemporaryFile file("trace.swt", "");
    write_trace(sample(), file.path(), "test");
    try {
        static_cast<void>(read_trace(file.path(), 100));
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_NE(
            std::string(error.what()).find("is more than 100 bytes when inflated"),
            std::string::npos);
    }
}

TEST(TraceFormat, SchemaIsJsonAndKnowsEveryRecord) {
    const auto schema = parse_json(trace_record_schema(), "schema");
    EXPECT_EQ(schema.at("oneOf").size(), 13U);
}

}  // namespace
}  // namespace switchfold::trace_format_test
