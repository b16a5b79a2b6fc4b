// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "workloads/graph/order_check.h"
#include "workloads/readers/read_traces.h"
#include "workloads/tests/trace_file.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace switchfold::point_to_point_test {
namespace {

using test_data::TemporaryFile;
using test_data::TraceText;

constexpr const char* kSendRecv = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";

std::string header(std::uint32_t rank, std::uint32_t world) {
    return fmt::format(
        R"("deviceProperties": [{{"id": 0, "name": "NVIDIA H100"}}], "distributedInfo": {{"rank": {}, "world_size": {}}},)",
        rank, world);
}

std::string call(const std::string& name, std::uint64_t elements, const std::string& more) {
    return fmt::format(
        R"("Collective name": "{}", "dtype": "BFloat16", "In msg nelems": {}, "Out msg nelems": {}, "Process Group Name": "0"{}{})",
        name, elements, elements, more.empty() ? "" : ", ", more);
}

TraceText& step(TraceText& trace) {
    return trace.event("user_annotation", "ProfilerStep#0", "1", "0.5", "900");
}

std::vector<Operation> on_gpu(const TraceWorkload& workload, std::size_t rank) {
    std::vector<Operation> found;
    for (const Operation& operation : workload.graph.ranks[rank]->operations)
        if (!std::holds_alternative<HostDelayOperation>(operation.body))
            found.push_back(operation);
    return found;
}

TEST(PointToPoint, ASendGoesToItsPeerWithItsBytes) {
    TraceText zero;
    step(zero.header(header(0, 2)))
        .launch(kSendRecv, "1", "20", "10", "50", call("send", 512, R"("Dst Rank": 1)"));
    TraceText one;
    step(one.header(header(1, 2)))
        .launch(kSendRecv, "1", "20", "10", "50", call("recv", 512, R"("Src Rank": 0)"));
    const TemporaryFile a("a.json", zero.text());
    const TemporaryFile b("b.json", one.text());
    const TraceWorkload workload = read_kineto({{a.path(), b.path()}});
    const auto sent = std::get<SendOperation>(on_gpu(workload, 0).at(0).body);
    const auto received = std::get<ReceiveOperation>(on_gpu(workload, 1).at(0).body);
    EXPECT_EQ(sent.peer, 1U);
    EXPECT_EQ(sent.bytes, Bytes(1024));
    EXPECT_EQ(received.peer, 0U);
    EXPECT_EQ(sent.tag, received.tag);
    EXPECT_TRUE(why_it_cannot_end(workload.graph).empty());
}

TEST(PointToPoint, SizesAreThoseOfPyTorchsTypes) {
    for (const auto& [type, bytes] :
         {std::pair{"ComplexFloat", 8}, {"Float4_e2m1fn_x2", 1}, {"UInt16", 2}, {"Short", 2}}) {
        const std::string text = fmt::format(
            R"("Collective name": "send", "dtype": "{}", "In msg nelems": 512, "Out msg nelems": 512, "Dst Rank": 1)",
            type);
        TraceText trace;
        step(trace.header(header(0, 2))).launch(kSendRecv, "1", "20", "10", "50", text);
        const auto sent = std::get<SendOperation>(on_gpu(trace.read(), 0).at(0).body);
        EXPECT_EQ(sent.bytes, Bytes(512 * static_cast<std::uint64_t>(bytes))) << type;
    }
    TraceText trace;
    step(trace.header(header(0, 2)))
        .launch(
            kSendRecv, "1", "20", "10", "50",
            R"("Collective name": "all_to_allv", "dtype": "ComplexFloat", "In msg nelems": 64, "Out msg nelems": 64, "In split size": "[48, 16]", "Out split size": "[48, 16]")");
    const TraceWorkload workload = trace.read();
    ASSERT_EQ(workload.graph.exchanges.size(), 1U);
    EXPECT_EQ(workload.graph.exchanges[0].at(0, 1), 16U * 8);
}

TEST(PointToPoint, OlderVersionsNameThePeerInTheCall) {
    TraceText trace;
    step(trace.header(header(2, 4)))
        .event(
            "user_annotation", "nccl:send 0->1", "1", "0.8", "5",
            R"("Input Dims": [[256]], "Input type": ["float"], "Process Group Ranks": "[2, 3]", "Group size": 2)")
        .launch(kSendRecv, "1", "20", "10", "50");
    const TraceWorkload workload = trace.read();
    const auto sent = std::get<SendOperation>(on_gpu(workload, 0).at(0).body);
    EXPECT_EQ(sent.peer, 3U) << "places in the group are no ranks of the run";
    EXPECT_EQ(sent.bytes, Bytes(1024));
}

TEST(PointToPoint, MessagesOfABatchMoveAtTheSameTime) {
    TraceText trace;
    step(trace.header(header(1, 3)))
        .launch("gemm", "1", "7", "5", "10")
        .event(
            "cpu_op", "record_param_comms", "1", "20", "1", call("send", 512, R"("Dst Rank": 2)"))
        .event(
            "cpu_op", "record_param_comms", "1", "22", "1", call("recv", 256, R"("Src Rank": 0)"))
        .event("cpu_op", "nccl:coalesced", "1", "24", "5")
        .launch(kSendRecv, "25", "20", "30", "50")
        .launch(kSendRecv, "40", "20", "90", "5", call("send", 8, R"("Dst Rank": 0)"))
        .launch("gemm", "50", "7", "100", "10");
    const TraceWorkload workload = trace.read();
    check(workload.graph);
    const std::vector<Operation> operations = on_gpu(workload, 0);
    ASSERT_EQ(operations.size(), 5U);
    EXPECT_EQ(std::get<SendOperation>(operations[1].body).peer, 2U);
    EXPECT_EQ(std::get<ReceiveOperation>(operations[2].body).bytes, Bytes(512));
    EXPECT_NE(operations[1].stream, operations[2].stream);
    // What follows on the call's stream waits for both.
    const auto& after = operations[3].dependencies;
    const auto index_of = [&](std::size_t nth) {
        std::uint32_t at = 0;
        for (std::uint32_t i = 0; i < workload.graph.ranks[0]->operations.size(); ++i)
            if (!std::holds_alternative<HostDelayOperation>(
                    workload.graph.ranks[0]->operations[i].body) &&
                nth-- == 0)
                at = i;
        return at;
    };
    EXPECT_NE(std::find(after.begin(), after.end(), index_of(2)), after.end());
    EXPECT_EQ(workload.files[0].warnings.size(), 0U);
}

TEST(PointToPoint, ABatchOfCollectivesIsOneOfTheirSizes) {
    const auto gather = [](std::uint64_t elements, const char* type) {
        return fmt::format(
            R"("Collective name": "_allgather_base", "dtype": "{}", "In msg nelems": {}, "Out msg nelems": {}, "Process Group Name": "0")",
            type, elements, 2 * elements);
    };
    const auto batch = [&](const char* second) {
        TraceText trace;
        step(trace.header(header(0, 2)))
            .event("cpu_op", "record_param_comms", "1", "20", "1", gather(512, "BFloat16"))
            .event("cpu_op", "record_param_comms", "1", "22", "1", gather(256, second))
            .event("user_annotation", "nccl:coalesced", "1", "24", "5")
            .launch("ncclDevKernel_AllGather_RING_LL(x)", "25", "20", "30", "50")
            .launch("gemm", "50", "7", "80", "10");
        return trace.read();
    };
    const TraceWorkload workload = batch("BFloat16");
    const auto one = std::get<CollectiveOperation>(on_gpu(workload, 0).at(0).body);
    EXPECT_EQ(one.kind, CollectiveKind::kAllGather);
    EXPECT_EQ(one.bytes, Bytes(2 * 2 * (512 + 256)));
    EXPECT_FALSE(one.holds_blocks);
    EXPECT_EQ(workload.files[0].warnings.size(), 0U);
    // Sizes in two types do not add up here: the size is unknown, the kind is not.
    const TraceWorkload mixed = batch("Float");
    const auto unknown = std::get<CollectiveOperation>(on_gpu(mixed, 0).at(0).body);
    EXPECT_EQ(unknown.kind, CollectiveKind::kAllGather);
    EXPECT_EQ(unknown.size_source, SizeSource::kEstimatedFromDuration);
}

TEST(PointToPoint, WithoutAPeerItHoldsItsBlocksForItsTime) {
    TraceText trace;
    step(trace.header(header(1, 3)))
        .launch(kSendRecv, "1", "20", "10", "50", call("send", 512, ""));
    const TraceWorkload workload = trace.read();
    const auto held = std::get<CollectiveOperation>(on_gpu(workload, 0).at(0).body);
    EXPECT_TRUE(held.holds_blocks);
    EXPECT_EQ(held.given, microseconds(50));
    EXPECT_EQ(held.thread_blocks, 8U);
    ASSERT_EQ(workload.files[0].warnings.size(), 1U);
    EXPECT_NE(
        workload.files[0].warnings[0].find("1 point-to-point call states no peer"),
        std::string::npos);
}

std::string splits(const std::string& in, const std::string& out) {
    return fmt::format(R"("In split size": "{}", "Out split size": "{}")", in, out);
}

TEST(UnevenExchange, RowsOfAllRanksMakeTheExchange) {
    TraceText zero;
    step(zero.header(header(0, 2)))
        .launch(
            kSendRecv, "1", "20", "10", "50", call("all_to_allv", 8, splits("[6, 2]", "[6, 1]")));
    TraceText one;
    // Splits may count rows instead of elements: only their proportion counts.
    step(one.header(header(1, 2)))
        .launch(
            kSendRecv, "1", "20", "10", "50", call("all_to_allv", 400, splits("[1, 3]", "[2, 3]")));
    const TemporaryFile a("a.json", zero.text());
    const TemporaryFile b("b.json", one.text());
    const TraceWorkload workload = read_kineto({{a.path(), b.path()}});
    ASSERT_EQ(workload.graph.exchanges.size(), 1U);
    EXPECT_EQ(workload.graph.exchanges[0].bytes, (std::vector<std::uint64_t>{12, 4, 200, 600}));
    EXPECT_EQ(std::get<CollectiveOperation>(on_gpu(workload, 1).at(0).body).exchange, 1U);
    EXPECT_TRUE(why_it_cannot_end(workload.graph).empty());
}

TEST(UnevenExchange, SizesThatDifferWithoutSplitsAreToldAndEven) {
    TraceText zero;
    step(zero.header(header(0, 2)))
        .launch(kSendRecv, "1", "20", "10", "50", call("all_to_all", 8, ""));
    TraceText one;
    step(one.header(header(1, 2)))
        .launch(kSendRecv, "1", "20", "10", "50", call("all_to_all", 4, ""));
    const TemporaryFile a("a.json", zero.text());
    const TemporaryFile b("b.json", one.text());
    const TraceWorkload workload = read_kineto({{a.path(), b.path()}});
    ASSERT_EQ(workload.graph.exchanges.size(), 1U);
    EXPECT_EQ(workload.graph.exchanges[0].bytes, (std::vector<std::uint64_t>{8, 8, 4, 4}));
    EXPECT_FALSE(workload.files[0].warnings.empty());
}

TEST(OneCall, ItsKernelsAreOne) {
    TraceText trace;
    const std::string exchange = call("all_to_all", 512, R"("Group size": 2)");
    step(trace).event("cpu_op", "record_param_comms", "1", "0.8", "20", exchange);
    for (int k = 0; k < 4; ++k)
        trace.launch(
            kSendRecv, fmt::format("{}", 1 + k), "20", fmt::format("{}", 10 + 40 * k), "40",
            exchange);
    trace.event("cpu_op", "record_param_comms", "1", "30", "20", exchange)
        .launch(kSendRecv, "31", "20", "200", "40", exchange);
    const TraceWorkload workload = trace.read();
    const std::vector<Operation> operations = on_gpu(workload, 0);
    ASSERT_EQ(operations.size(), 2U);
    EXPECT_EQ(std::get<CollectiveOperation>(operations[0].body).measured, microseconds(160));
    EXPECT_EQ(std::get<CollectiveOperation>(operations[1].body).measured, microseconds(40));
}

TEST(OtherLibraries, AKernelWithoutAModelTakesTheShortestTimeOfItsLike) {
    TraceText trace;
    step(trace)
        .launch("void vllm::cross_device_reduce_1stage<half, 8>()", "1", "7", "10", "50")
        .launch("void vllm::cross_device_reduce_1stage<half, 8>()", "2", "7", "70", "30");
    const TraceWorkload workload = trace.read();
    const std::vector<Operation> operations = on_gpu(workload, 0);
    ASSERT_EQ(operations.size(), 2U);
    for (const Operation& operation : operations) {
        const auto& c = std::get<CollectiveOperation>(operation.body);
        EXPECT_EQ(c.kind, CollectiveKind::kAllReduce);
        EXPECT_EQ(c.given, microseconds(30));
        EXPECT_TRUE(c.holds_blocks);
    }
}

TEST(OtherLibraries, AKernelOfUnknownKindHoldsItsBlocks) {
    TraceText trace;
    step(trace.header(header(0, 2)))
        .launch("void c10d::symmetric_memory::barrier_kernel(x)", "1", "20", "10", "50");
    const TraceWorkload workload = trace.read();
    const auto held = std::get<CollectiveOperation>(on_gpu(workload, 0).at(0).body);
    EXPECT_TRUE(held.holds_blocks);
    EXPECT_EQ(held.given, microseconds(50));
    EXPECT_NE(
        workload.files[0].warnings.at(0).find("1 communication kernel is of unknown kind"),
        std::string::npos);
}

TEST(OtherGpus, AreNamedAndRefused) {
    const auto says = [](const TraceText& trace) -> std::string {
        try {
            static_cast<void>(trace.read());
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "accepted";
    };
    TraceText runtime;
    step(runtime)
        .event("xpu_runtime", "urEnqueueKernelLaunch", "1", "1", "2", R"("correlation": 1)")
        .event("kernel", "gemm", "7", "10", "100", R"("stream": 7, "correlation": 1)");
    EXPECT_NE(says(runtime).find("calls of xpu_runtime"), std::string::npos);
    TraceText device;
    step(device.header(
             R"("deviceProperties": [{"id": 0, "name": "Intel(R) Data Center GPU Max 1550"}],)"))
        .event("kernel", "gemm", "7", "10", "100", R"("stream": 7)");
    EXPECT_NE(says(device).find("Intel(R) Data Center GPU Max"), std::string::npos);
}

TEST(SeveralRanksInAFile, TwoGpusOfAProcessAreTwoRanks) {
    TraceText trace;
    const std::string device = R"(, "device": 1)";
    trace.header("").event("user_annotation", "ProfilerStep#0", "1", "0.5", "900");
    trace.event("cuda_runtime", "cudaLaunchKernel", "1", "1", "2", R"("correlation": 1)")
        .event(
            "kernel", "gemm", "7", "10", "100",
            R"("stream": 7, "device": 0, "correlation": 1, "grid": [8, 1, 1])")
        .event("cuda_runtime", "cudaLaunchKernel", "1", "4", "2", R"("correlation": 2)")
        .event(
            "kernel", "gemm", "7", "10", "90",
            R"("stream": 7, "device": 1, "correlation": 2, "grid": [8, 1, 1])");
    const TraceWorkload workload = trace.read();
    ASSERT_EQ(workload.graph.ranks.size(), 2U);
    EXPECT_EQ(workload.files[0].kernels, 1U);
    EXPECT_EQ(workload.files[1].kernels, 1U);
    EXPECT_EQ(workload.files[1].world_size, 2U);
    for (const TraceFileReport& file : workload.files)
        for (const std::string& note : file.warnings)
            EXPECT_EQ(note.find("no kernel in the trace"), std::string::npos)
                << "a launch of the other GPU's kernel is not lost: " << note;
}

TEST(SeveralRanksInAFile, RanksThatATaggedMergeHoldsAreParted) {
    std::string events;
    for (const char* tag : {"[TP00]", "[TP01]"})
        events += fmt::format(
            R"({}{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": "{} 100", "tid": 1, "ts": 1, "dur": 2, "args": {{"correlation": 1}}}},
{{"ph": "X", "cat": "kernel", "name": "gemm", "pid": "{} 0", "tid": 7, "ts": 10, "dur": 100, "args": {{"stream": 7, "device": 0, "correlation": 1, "grid": [8, 1, 1]}}}})",
            events.empty() ? "" : ",\n", tag, tag);
    TraceText trace;
    trace.header("").raw(events);
    const TraceWorkload workload = trace.read();
    ASSERT_EQ(workload.graph.ranks.size(), 2U);
    EXPECT_EQ(workload.files[1].rank, 1U);
}

TEST(SeveralRanksInAFile, ProcessesWithoutTagsAreRefused) {
    std::string events;
    for (const char* process : {"100", "200"})
        events += fmt::format(
            R"({}{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": {}, "tid": 1, "ts": 1, "dur": 2, "args": {{"correlation": {}}}}},
{{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10, "dur": 100, "args": {{"stream": 7, "correlation": {}, "grid": [8, 1, 1]}}}})",
            events.empty() ? "" : ",\n", process, process, process);
    TraceText trace;
    trace.header("").raw(events);
    try {
        static_cast<void>(trace.read());
        ADD_FAILURE() << "two processes were taken as one rank";
    } catch (const ConfigError& error) {
        EXPECT_NE(std::string(error.what()).find("processes 100, 200"), std::string::npos);
    }
}

}  // namespace
}  // namespace switchfold::point_to_point_test
