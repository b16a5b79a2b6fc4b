// SPDX-License-Identifier: Apache-2.0
// Tests for refusals of other tools' files: each names the tool and what to give instead.
#include "core/error.h"
#include "workloads/readers/read_traces.h"
#include "workloads/tests/temporary_file.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace switchfold::other_tools_test {
namespace {

using test_data::TemporaryFile;

std::string refusal(std::string_view content, const std::string& name = "file") {
    const TemporaryFile file(name, content);
    try {
        static_cast<void>(recognise(file.path()));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(OtherTools, AreNamedWithWhatToGiveInstead) {
    struct Known {
        std::string content;
        std::vector<std::string> says;
        std::string name = "file";
    };
    const std::string kProcess =
        R"({"displayTimeUnit": "ns", "traceEvents": [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": ")";
    const std::vector<Known> known{
        {std::string("\n\x40\x08\x01\x12\x09/host:CPU", 15) + std::string(100, 'x'),
         {"JAX/XLA profile (xplane protobuf)", "nsys export --type sqlite"}},
        {kProcess + R"(/device:GPU:0"}}]})", {"JAX profile as Chrome trace", "nsys export"}},
        {kProcess + R"(/host:CPU"}}]})", {"JAX profile as Chrome trace"}},
        {R"([{"name": "thread_name", "args": {"name": "XLA Ops"}}])",
         {"JAX profile as Chrome trace"}},
        {kProcess + R"(/job:localhost/replica:0/task:0/device:GPU:0 Compute"}}]})",
         {"TensorFlow timeline", "nsys export"}},
        {"{\"version\": \"0.0.4\"}\n{\"id\": \"1\", \"type\": \"COMM_COLL_NODE\"}\n",
         {"Chakra trace as JSON", ".et"}},
        {R"({"traceEvents": [{"name": "Group API", "cat": "GROUP_API", "ph": "b"}]})",
         {"NCCL's example profiler plugin", "Inspector"}},
        {std::string("\x80\x02}q\x01(X\x09\x00\x00\x00pg_configq\x02", 24),
         {"flight recorder dump as pickle", "python -c"}},
        {std::string("\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94.", 14),
         {"pickle of Python"}},
        {std::string("PK\x03\x04\x14\x00", 6), {"zip archive"}},
        {std::string(257, '\0') + "ustar" + std::string(100, '\0'), {"tar archive"}},
        {std::string("NVR\0\x01\x02\x03", 7), {"Nsight Compute report", "nsys profile"}},
        {"\x7f\x01\x02 NVIDIA Nsight Systems 2026",
         {"Nsight Systems report", "nsys export --type sqlite"}},
        {"\x7f\x01\x02", {"Nsight Systems report", "nsys export"}, "a.nsys-rep"},
        {"\x7f\x01\x02", {"Nsight Compute report"}, "a.ncu-rep"},
        {"==71== NVPROF is profiling process 71\n==71== Profiling result:\n", {"nvprof"}},
        {"\"Start\",\"Duration\",\"Grid X\",\"Grid Y\"\n1,2,3,4\n", {"table of kernels (CSV)"}},
        {"\"Kind\",\"Agent_Id\",\"Queue_Id\"\n",
         {"table of rocprof (CSV)", "--output-format json"}},
        {std::string(
             "\n\x03"
             "abc\n\x02"
             "de\n\x01"
             "f",
             13),
         {"Perfetto"}},
        {"SQLite format 3 CREATE TABLE \"rocpd_kernel_dispatch_1\"",
         {"rocpd", "--output-format json"}},
        {"SQLite format 3 CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", {"nvprof"}},
        {"{\"Type\":48}\n{\"CudaEvent\":{\"startNs\":\"1\"},\"Type\":79}\n",
         {"export of Nsight Systems as JSON", "nsys export --type sqlite"}},
        {R"([{"ph": "M", "name": "process_name", "args": {"name": "Ascend Hardware"}}])",
         {"Ascend NPUs"}},
        {"{\"a\": 1}\n{\"a\": 2}\n", {"several JSON values of no known trace format", "Inspector"}},
        {"hello", {"of no known trace format", "Inspector"}}};
    for (const Known& one : known) {
        const std::string text = refusal(one.content, one.name);
        for (const std::string& word : one.says)
            EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
        EXPECT_NE(text.find("; expected"), std::string::npos) << text;
    }
}

TEST(OtherTools, ChromeTracesOfPyTorchStayWhatTheyAre) {
    // Kineto's own events, even if an operator's text names what another tool writes.
    EXPECT_EQ(
        refusal(
            R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "jit /device:GPU:0", "ts": 1, "dur": 1}]
})"),
        "accepted");
    EXPECT_EQ(refusal(R"({"schemaVersion": 1, "traceEvents": []})"), "accepted");
    EXPECT_EQ(refusal("SQLite format 3 CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL"), "accepted");
}

TEST(ReadTraces, RecogniseListsOfOperations) {
    const auto format = [](const std::string& content) {
        const TemporaryFile file("trace.png", content);
        return recognise(file.path());
    };
    EXPECT_EQ(
        format("{\"header\":{},\"coll_perf\":{}}\n{\"header\":{},\"coll_perf\":{}}\n"),
        TraceFormat::kNcclInspector);
    EXPECT_EQ(format(R"({"header": {}, "dump_stats": {}})"), TraceFormat::kNcclInspector);
    EXPECT_EQ(
        format("{\"busBw\":1,\"size\":2}\n{\"busBw\":1,\"size\":2}\n"),
        TraceFormat::kNcclTestsJson);
    EXPECT_EQ(format(R"([{"busBw":1,"size":2}])"), TraceFormat::kNcclTestsJson);
    EXPECT_EQ(
        format(R"({"version": 1, "start_time": "", "args": [], "env": ["x)"),
        TraceFormat::kNcclTestsJson);
    EXPECT_EQ(
        format(R"({"comm_lib_version": "2", "entries": [{"profiling_name": "nccl:all_reduce"}]})"),
        TraceFormat::kFlightRecorder);
    EXPECT_EQ(format(R"({"version": "2.5", "pg_config": {}})"), TraceFormat::kFlightRecorder);
    EXPECT_EQ(format(R"({"rocprofiler-sdk-tool": [{}]})"), TraceFormat::kRocprof);
    EXPECT_EQ(format(R"({"pg_config": {}, "traceEvents": []})"), TraceFormat::kKineto)
        << "metadata of a Chrome trace";
}

}  // namespace
}  // namespace switchfold::other_tools_test
