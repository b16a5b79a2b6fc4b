// SPDX-License-Identifier: Apache-2.0
#include "workloads/tests/trace_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace switchfold::group_of_call_test {
namespace {

using test_data::TraceText;

/// A collective of rank 9 of 16, issued by c10d's call of this name with these tensors.
CollectiveOperation issued_by(
    const std::string& call, const std::string& dims, Group& group, const std::string& more = "") {
    TraceText text;
    text.header(
        R"("deviceProperties": [{"id": 0, "name": "NVIDIA A100", "totalGlobalMem": 84000000000}], "distributedInfo": {"rank": 9, "world_size": 16},)");
    text.event(
        "cpu_op", "c10d::" + call, "1", "0", "10",
        fmt::format(R"("Input Dims": {}, "Input type": ["float", "float", ""]{})", dims, more));
    text.launch("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)", "2", "20", "20", "100");
    const TraceWorkload workload = text.read();
    for (const Operation& operation : workload.graph.ranks[0]->operations)
        if (const auto* found = std::get_if<CollectiveOperation>(&operation.body)) {
            group = workload.graph.groups[found->group];
            return *found;
        }
    throw std::runtime_error("no collective");
}

TEST(GroupOfCall, GroupsFromTheTensorsOfCallsThatGatherOrScatterOneBuffer) {
    Group group;
    const std::vector<std::uint32_t> neighbours = {8, 9, 10, 11, 12, 13, 14, 15};
    EXPECT_EQ(
        issued_by("_allgather_base_", "[[64, 3], [8, 3], []]", group).kind,
        CollectiveKind::kAllGather);
    EXPECT_EQ(group.ranks, neighbours);
    EXPECT_EQ(
        issued_by("_reduce_scatter_base_", "[[8, 3], [64, 3], []]", group).kind,
        CollectiveKind::kReduceScatter);
    EXPECT_EQ(group.ranks, neighbours);
    // What the trace states comes first.
    issued_by("_allgather_base_", "[[64, 3], [8, 3], []]", group, R"(, "Group size": 4)");
    EXPECT_EQ(group.ranks.size(), 4U);
}

TEST(GroupOfCall, GroupsOfOtherTensorsAreTheWorld) {
    Group group;
    for (const std::string dims :
         {"[[65], [8], []]", "[[8], [64], []]", "[[64], [], []]", "[[64]]"}) {
        issued_by("_allgather_base_", dims, group);
        EXPECT_EQ(group.ranks.size(), 16U) << dims;
    }
    issued_by("alltoall_base_", "[[64], [8], []]", group);
    EXPECT_EQ(group.ranks.size(), 16U) << "shares of an all-to-all need not be equal";
}

TEST(GroupOfCall, TheHeaderMayListRanksInSeveralForms) {
    for (const std::string groups :
         {R"([{"pg_name": "1", "pg_size": 2, "ranks": [1, 3]}])",
          R"([{"pg_name": "1", "pg_size": 2, "ranks": "[1, 3]"}])",
          R"({"1": {"pg_name": "1", "ranks": [1, 3]}})"}) {
        TraceText text;
        text.header(fmt::format(
            R"("deviceProperties": [{{"id": 0, "name": "NVIDIA A100"}}], "distributedInfo": {{"rank": 1, "world_size": 4, "pg_config": {}}},)",
            groups));
        text.launch(
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "2", "20", "20", "100",
            R"("Collective name": "allreduce", "dtype": "Float", "In msg nelems": 64, "Process Group Name": "1", "Group size": 2)");
        const TraceWorkload workload = text.read();
        EXPECT_EQ(workload.graph.groups[0].ranks, (std::vector<std::uint32_t>{1, 3})) << groups;
    }
}

TEST(GroupOfCall, ACutListGoesOnAndIsToldSo) {
    const auto notes = [](const std::string& ranks) {
        TraceText text;
        text.header(
            R"("deviceProperties": [{"id": 0, "name": "NVIDIA A100", "totalGlobalMem": 84000000000}], "distributedInfo": {"rank": 9, "world_size": 64},)");
        text.launch(
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "2", "20", "20", "100",
            fmt::format(
                R"("Collective name": "allreduce", "dtype": "Float", "In msg nelems": 64, "Process Group Name": "1", "Group size": 8, "Process Group Ranks": "{}")",
                ranks));
        return fmt::format("{}", fmt::join(text.read().files[0].warnings, "; "));
    };
    EXPECT_NE(
        notes("[1, 9, 17, ...]").find("cut short (\"...\"): taken to go on"), std::string::npos);
    EXPECT_EQ(notes("[1, 9, 17, ...]").find("taken as neighbours"), std::string::npos);
    EXPECT_NE(notes("[]").find("taken as neighbours"), std::string::npos);
}

}  // namespace
}  // namespace switchfold::group_of_call_test
