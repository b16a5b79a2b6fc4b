// SPDX-License-Identifier: Apache-2.0
// Tests for JSON of rocprofv3.
#include "workloads/profile/trace_summary.h"
#include "workloads/readers/read_traces.h"
#include "workloads/tests/read_text.h"
#include "workloads/tests/round_trip.h"
#include "workloads/tests/temporary_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace switchfold::rocprof_test {
namespace {

using test_data::error_of_text;
using test_data::read_text;
using test_data::TemporaryFile;

std::string record(
    int kind, int operation, int start_us, int end_us, int correlation,
    const std::string& more = "") {
    return fmt::format(
        R"({{"kind": {}, "operation": {}, "thread_id": 9, "start_timestamp": {}, "end_timestamp": {}, "correlation_id": {{"internal": {}, "external": 0}}{}{}}})",
        kind, operation, 4'000'000'000'000 + start_us * 1000, 4'000'000'000'000 + end_us * 1000,
        correlation, more.empty() ? "" : ", ", more);
}

std::string dispatch(int kernel, int start_us, int end_us, int correlation, int agent = 5) {
    return record(
        3, 0, start_us, end_us, correlation,
        fmt::format(
            R"("stream_id": {{"handle": {}}}, "dispatch_info": {{"agent_id": {{"handle": {}}}, "kernel_id": {}, "group_segment_size": 512,
 "workgroup_size": {{"x": 256, "y": 1, "z": 1}}, "grid_size": {{"x": 1000, "y": 3, "z": 1}}}})",
            kernel, agent, kernel));
}

struct Lists {
    std::string kernels = dispatch(1, 100, 150, 1);
    std::string calls;
    std::string rccl;
    std::string copies;
    std::string ranges;
    std::string messages;
};

std::string process(const Lists& lists) {
    return fmt::format(
        R"({{"metadata": {{"pid": 1}}, "agents": [
{{"id": {{"handle": 4}}, "type": 1, "name": "AMD EPYC"}},
{{"id": {{"handle": 6}}, "type": 2, "name": "gfx942", "node_id": 2}},
{{"id": {{"handle": 5}}, "type": 2, "name": "gfx942", "product_name": "AMD Instinct MI300X", "node_id": 3, "cu_count": 304,
 "mem_banks": [{{"size_in_bytes": 206141652992}}]}}],
"strings": {{"buffer_records": [
 {{"kind": "HIP", "operations": ["hipLaunchKernel", "hipMemcpyAsync", "hipExtModuleLaunchKernel"]}},
 {{"kind": "RCCL", "operations": ["ncclAllReduce", "ncclGroupStart", "ncclGroupEnd", "ncclAllGather"]}},
 {{"kind": "MARKER", "operations": ["roctxRangeA"]}}], "marker_api": [{}]}},
"kernel_symbols": [{{"kernel_id": 1, "formatted_kernel_name": "gemm<float>", "arch_vgpr_count": 64, "accum_vgpr_count": 32}},
 {{"kernel_id": 2, "kernel_name": "ncclDevKernel_Generic_1.kd"}}],
"callback_records": {{"counter_collection": []}},
"buffer_records": {{"kernel_dispatch": [{}], "hip_api": [{}], "rccl_api": [{}], "memory_copy": [{}], "marker_api": [{}]}}}})",
        lists.messages, lists.kernels, lists.calls, lists.rccl, lists.copies, lists.ranges);
}

std::string file_of(const std::string& processes) {
    return R"({"rocprofiler-sdk-tool": [)" + processes + "]}";
}

TraceWorkload read(const Lists& lists) {
    return read_text("results.json", file_of(process(lists)));
}

std::string message(const std::string& text) {
    return error_of_text("results.json", text);
}

template <class Body>
std::vector<Body> all(const TraceWorkload& workload, std::size_t rank = 0) {
    std::vector<Body> found;
    for (const Operation& operation : workload.graph.ranks.at(rank)->operations)
        if (const auto* body = std::get_if<Body>(&operation.body))
            found.push_back(*body);
    return found;
}

TEST(Rocprof, DispatchesBecomeKernels) {
    Lists lists;
    lists.calls = record(0, 0, 90, 95, 1);
    const TraceWorkload workload = read(lists);
    const auto kernels = all<KernelOperation>(workload);
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(kernels[0].grid, (Dim3{4, 3, 1})) << "1,000 work items in groups of 256";
    EXPECT_EQ(kernels[0].block, (Dim3{256, 1, 1}));
    EXPECT_EQ(kernels[0].registers_per_thread, 96U);
    EXPECT_EQ(kernels[0].shared_memory, Bytes(512));
    EXPECT_EQ(kernels[0].isolated, microseconds(50));
    const TraceFileReport& report = workload.files[0];
    EXPECT_EQ(report.format, "rocprofv3");
    EXPECT_EQ(report.gpu_name, "AMD Instinct MI300X");
    EXPECT_EQ(report.sms, 304U);
    EXPECT_EQ(report.memory_bytes, 206'141'652'992U);
    EXPECT_EQ(report.used.at("runtime calls"), 1U);
    EXPECT_EQ(
        workload.graph.names.at(workload.graph.ranks[0]->operations.back().name), "gemm<float>");
    test_data::expect_same(workload, test_data::again(workload));
}

TEST(Rocprof, GridsOfExtendedLaunchesAreThoseOfTheDispatch) {
    Lists lists;
    lists.calls = record(0, 2, 90, 95, 1);
    EXPECT_EQ(all<KernelOperation>(read(lists))[0].grid, (Dim3{4, 3, 1}));
}

TEST(Rocprof, CallsOfRcclSayWhatItsKernelsDo) {
    Lists lists;
    lists.kernels = dispatch(2, 100, 150, 1) + "," + dispatch(2, 160, 200, 2);
    lists.calls = record(0, 0, 21, 22, 1) + "," + record(0, 0, 66, 67, 2);
    // The second is launched at the end of its group.
    lists.rccl = record(1, 0, 20, 25, 11) + "," + record(1, 1, 50, 51, 12) + "," +
                 record(1, 3, 55, 56, 13) + "," + record(1, 2, 65, 70, 14);
    const TraceWorkload workload = read(lists);
    const auto collectives = all<CollectiveOperation>(workload);
    ASSERT_EQ(collectives.size(), 2U);
    EXPECT_EQ(collectives[0].kind, CollectiveKind::kAllReduce);
    EXPECT_EQ(collectives[0].measured, microseconds(50));
    EXPECT_EQ(collectives[0].size_source, SizeSource::kEstimatedFromDuration);
    EXPECT_EQ(collectives[1].kind, CollectiveKind::kAllGather);
}

TEST(Rocprof, CopiesKnowTheirDirection) {
    const auto agents = [](int from, int to) {
        return fmt::format(
            R"("src_agent_id": {{"handle": {}}}, "dst_agent_id": {{"handle": {}}}, "bytes": 4096)",
            from, to);
    };
    Lists lists;
    lists.copies = record(4, 0, 200, 210, 3, agents(4, 5)) + "," +
                   record(4, 0, 220, 230, 4, agents(5, 4)) + "," +
                   record(4, 0, 240, 250, 5, agents(5, 5)) + "," +
                   record(4, 0, 260, 270, 6, agents(4, 6));
    const TraceWorkload workload = read(lists);
    const auto copies = all<CopyOperation>(workload);
    ASSERT_EQ(copies.size(), 3U);
    EXPECT_EQ(copies[0].kind, CopyKind::kHostToDevice);
    EXPECT_EQ(copies[1].kind, CopyKind::kDeviceToHost);
    EXPECT_EQ(copies[2].kind, CopyKind::kDeviceToDevice);
    EXPECT_EQ(copies[0].bytes, Bytes(4096));
    EXPECT_EQ(workload.files[0].dropped.at("copies of a GPU that ran no kernel"), 1U);
}

TEST(Rocprof, RangesMarkSteps) {
    Lists lists;
    lists.kernels = dispatch(1, 100, 150, 1) + "," + dispatch(1, 300, 350, 2);
    lists.calls = record(0, 0, 90, 95, 1) + "," + record(0, 0, 290, 295, 2);
    lists.messages = R"({"key": 21, "value": "step 1"}, {"key": 22, "value": "step 2"})";
    lists.ranges =
        record(2, 0, 80, 200, 21) + "," + record(2, 0, 280, 400, 22) + "," + record(2, 0, 1, 2, 23);
    const TraceWorkload workload = read(lists);
    EXPECT_EQ(workload.graph.steps, 2U);
    EXPECT_EQ(workload.files[0].dropped.at("marks without a text"), 1U);
}

TEST(Rocprof, EachGpuOfEachFileIsARank) {
    Lists two;
    two.kernels = dispatch(1, 100, 150, 1, 5) + "," + dispatch(1, 100, 160, 2, 6);
    const TemporaryFile first("1_results.json", file_of(process(two)));
    const TemporaryFile second("2_results.json", file_of(process({})));
    const TraceWorkload workload = read_traces({{first.path(), second.path()}});
    check(workload.graph);
    ASSERT_EQ(workload.files.size(), 3U);
    EXPECT_EQ(workload.files[0].gpu_name, "gfx942") << "by node: agent 6 is of node 2";
    EXPECT_EQ(workload.files[2].rank, 2U);
    EXPECT_EQ(workload.files[2].world_size, 3U);
    EXPECT_EQ(workload.files[2].file, second.path().string());
}

TEST(RocprofErrors, NameThePointer) {
    Lists lists;
    lists.kernels = "";
    EXPECT_NE(
        message(file_of(process(lists))).find("kernel_dispatch: is missing or empty"),
        std::string::npos);
    lists.kernels = dispatch(1, 100, 150, 1) + "," + dispatch(1, 100, 90, 2);
    EXPECT_NE(
        message(file_of(process(lists)))
            .find("/rocprofiler-sdk-tool/0/buffer_records/kernel_dispatch/1/end_timestamp: is"),
        std::string::npos);
    lists.kernels = R"({"start_timestamp": 1, "end_timestamp": 2})";
    EXPECT_NE(
        message(file_of(process(lists))).find("kernel_dispatch/0/agent_id: is missing"),
        std::string::npos);
    EXPECT_NE(message(file_of("")).find("is missing or empty"), std::string::npos);
    const std::string whole = file_of(process({}));
    EXPECT_NE(message(whole.substr(0, whole.size() - 3)).find("ends too early"), std::string::npos);
}

}  // namespace
}  // namespace switchfold::rocprof_test
