// SPDX-License-Identifier: Apache-2.0
// Tests for results of nccl-tests and rccl-tests as JSON.
#include "workloads/tests/read_text.h"
#include "workloads/tests/round_trip.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace switchfold::nccl_json_test {
namespace {

using test_data::collective;
using test_data::error_of_text;
using test_data::read_text;

TraceWorkload read(const std::string& text) {
    return read_text("results.json", text);
}

std::string message(const std::string& text) {
    return error_of_text("results.json", text);
}

std::string
row(const std::string& name, int bytes, int in_place, const std::string& more = R"("gpus": 8)") {
    return fmt::format(
        R"({{"#wrong": "0", "algBw": 102.7, "busBw": 179.7, {}, "inPlace": {}, "name": "{}", "redop": "sum", "size": {}, "time": 326.5, "type": "half"}})",
        more, in_place, name, bytes);
}

TEST(RcclTests, RowsBecomeCollectives) {
    const TraceWorkload workload = read(
        row("AllReduce", 1024, 0) + "\n" + row("AllReduce", 1024, 1) + "\n" +
        row("ReduceScatter", 2048, 0) + "\n");
    EXPECT_EQ(workload.files[0].format, "rccl-tests");
    ASSERT_EQ(workload.files[0].collectives, 2U);
    EXPECT_EQ(workload.files[0].world_size, 8U);
    EXPECT_EQ(workload.files[0].dropped.at("rows in place"), 1U);
    EXPECT_EQ(collective(workload, 0).kind, CollectiveKind::kAllReduce);
    EXPECT_EQ(collective(workload, 0).bytes, Bytes(1024));
    EXPECT_EQ(collective(workload, 0).measured, nanoseconds(326'500));
    EXPECT_EQ(collective(workload, 0).datatype, Datatype::kFloat16);
    EXPECT_EQ(collective(workload, 1).kind, CollectiveKind::kReduceScatter);
    test_data::expect_same(workload, test_data::again(workload));
}

TEST(RcclTests, RowsMayBeAListAndAllInPlace) {
    const std::string ranks = R"("ranks": 2, "gpusPerRank": 4, "nodes": 2)";
    const TraceWorkload workload =
        read("[" + row("alltoall", 64, 1, ranks) + ",\n" + row("alltoall", 128, 1, ranks) + "]");
    EXPECT_EQ(workload.files[0].collectives, 2U);
    EXPECT_EQ(workload.files[0].world_size, 8U);
    EXPECT_EQ(collective(workload, 1).kind, CollectiveKind::kAllToAll);
}

std::string whole(const std::string& results, const std::string& program = "./all_gather_perf") {
    return fmt::format(
        R"({{"version": 1, "start_time": "now", "args": ["{}", "-b", "8"], "env": ["A=[{{"], "nccl_version": 22903,
"config": {{"nthreads": 1, "ngpus": 2, "graph": 1, "devices": [
{{"rank": 0, "hostname": "a", "device_info": "NVIDIA H100"}}, {{"rank": 2, "hostname": "b", "device_info": "NVIDIA H100"}}]}},
"results": [{}], "average_bus_bandwidth": {{"bandwidth": 1.5}}}})",
        program, results);
}

std::string result(const std::string& places) {
    return R"({"size": 4096, "count": 1024, "type": "float", "redop": "none", "root": "    -1", )" +
           places + R"(, "experiment_name": ""})";
}

TEST(NcclTestsJson, ResultsBecomeCollectives) {
    const TraceWorkload workload = read(whole(
        result(
            R"("out_of_place": {"time": 20.5, "alg_bw": 1, "bus_bw": 1, "nwrong": null}, "in_place": {"time": 30})") +
        "," + result(R"("out_of_place": null, "in_place": {"time": 30, "bus_bw": "nan"})")));
    EXPECT_EQ(workload.files[0].format, "nccl-tests");
    EXPECT_EQ(workload.files[0].world_size, 4U) << "two processes of two GPUs";
    EXPECT_EQ(workload.files[0].gpu_name, "NVIDIA H100");
    ASSERT_EQ(workload.files[0].collectives, 2U);
    EXPECT_EQ(collective(workload, 0).kind, CollectiveKind::kAllGather);
    EXPECT_EQ(collective(workload, 0).bytes, Bytes(4096));
    EXPECT_EQ(collective(workload, 0).measured, nanoseconds(20'500));
    EXPECT_EQ(collective(workload, 1).measured, microseconds(30));
}

TEST(NcclTestsJson, TimesOfTheHostAreNotThoseOfTheCollective) {
    const TraceWorkload workload =
        read(whole(result(R"("out_of_place": {"cpu_time": 20.5, "alg_bw": 1})")));
    EXPECT_EQ(collective(workload, 0).measured, Time());
    ASSERT_FALSE(workload.files[0].warnings.empty());
    EXPECT_NE(workload.files[0].warnings[0].find("host's calls"), std::string::npos);
}

TEST(NcclTestsJsonErrors, NameThePlace) {
    EXPECT_NE(message(whole("")).find("/results: holds no row"), std::string::npos);
    EXPECT_NE(
        message(whole(result(R"("out_of_place": {"alg_bw": 1})")))
            .find("/results/0/out_of_place/time: is missing or zero"),
        std::string::npos);
    EXPECT_NE(
        message(whole(result(R"("out_of_place": null)"))).find("/results/0/out_of_place"),
        std::string::npos);
    EXPECT_NE(
        message(whole(result(R"("in_place": {"time": 1})"), "hypercube_perf"))
            .find("/results/0/experiment_name: is of \"hypercube_perf\""),
        std::string::npos);
    const std::string good = row("AllReduce", 64, 0) + "\n";
    EXPECT_NE(
        message(good + row("AllReduce", 64, 0, R"("gpus": 4)"))
            .find("line 2: /gpus: is 4 where a row before says 8"),
        std::string::npos);
    EXPECT_NE(
        message(good + row("Barrier", 64, 0)).find("line 2: /name: is of \"Barrier\""),
        std::string::npos);
    EXPECT_NE(
        message(good + row("AllReduce", 64, 0, R"("x": 1)")).find("line 2: /gpus: is missing"),
        std::string::npos);
    EXPECT_NE(message(good + "{").find("line 2: is not JSON"), std::string::npos);
}

}  // namespace
}  // namespace switchfold::nccl_json_test
