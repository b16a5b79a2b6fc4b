// SPDX-License-Identifier: Apache-2.0
// Tests for workloads of files that list collectives, sends and receives one by one.
#include "workloads/readers/listed/listed_run.h"

#include "core/error.h"
#include "workloads/profile/rank_alignment.h"
#include "workloads/profile/trace_summary.h"
#include "workloads/readers/listed/names.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>

namespace switchfold::listed_run_test {
namespace {

ListedOperation collective(
    std::uint64_t number, std::uint64_t start_ns = ListedOperation::kNoTime,
    std::uint32_t communicator = 0) {
    CollectiveOperation body;
    body.bytes = Bytes(1024);
    ListedOperation operation;
    operation.communicator = communicator;
    operation.number = number;
    operation.start_ns = start_ns;
    operation.duration = microseconds(10);
    operation.body = body;
    return operation;
}

ListedOperation transfer(bool sends, std::uint32_t peer) {
    ListedOperation operation = collective(0);
    if (sends)
        operation.body = SendOperation{peer, Bytes(64), 0};
    else
        operation.body = ReceiveOperation{peer, Bytes(64), 0};
    return operation;
}

ListedRun run_of(std::vector<std::vector<ListedOperation>> ranks) {
    ListedRun run;
    run.names = {"AllReduce"};
    run.communicators = {{"a", {0, 1}}, {"b", {0, 1}}};
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        ListedRank& rank = run.ranks.emplace_back();
        rank.report.file = "rank" + std::to_string(r);
        rank.report.rank = static_cast<std::uint32_t>(r);
        rank.report.world_size = 2;
        rank.operations = std::move(ranks[r]);
    }
    return run;
}

const CollectiveOperation& body_of(const TraceWorkload& workload, std::size_t i) {
    return std::get<CollectiveOperation>(workload.graph.ranks[0]->operations[i].body);
}

TEST(ListedRun, RunsEachStreamWithoutPauseIfThereAreNoTimes) {
    const auto parts = workloads_of(run_of({{collective(4), collective(5)}}));
    const TraceWorkload& workload = parts.at(0);
    check(workload.graph);
    ASSERT_EQ(workload.graph.ranks[0]->operations.size(), 2U);
    EXPECT_EQ(body_of(workload, 1).sequence, 1U);
    EXPECT_EQ(body_of(workload, 1).measured, microseconds(10));
    EXPECT_EQ(workload.measured[0][1].start, microseconds(10));
    EXPECT_EQ(workload.graph.ranks[0]->operations[1].gap, Time());
    EXPECT_EQ(workload.graph.provenance.measured_iteration, microseconds(20));
}

TEST(ListedRun, KeepsTheTimesBetweenOperations) {
    // The second begins 5 us behind the first's end, on another communicator; the third beside it.
    const auto parts = workloads_of(run_of(
        {{collective(0, 1'000'000), collective(0, 1'015'000, 1), collective(1, 1'018'000)}}));
    const auto& operations = parts.at(0).graph.ranks[0]->operations;
    ASSERT_EQ(operations.size(), 3U);
    EXPECT_EQ(operations[1].gap, microseconds(5));
    ASSERT_EQ(operations[1].dependencies.size(), 1U);
    EXPECT_EQ(*operations[1].dependencies.begin(), 0U);
    EXPECT_TRUE(operations[2].dependencies.empty()) << "the first is before it on its stream";
    EXPECT_EQ(operations[2].gap, microseconds(8));
    EXPECT_TRUE(impossible_orders(parts.at(0)).empty());
}

TEST(ListedRun, TakesNoOrderBetweenCommunicatorsFromTheTimesOfCalls) {
    ListedRun run = run_of({{collective(0, 0), collective(0, 15'000, 1)}});
    run.starts_of_calls = true;
    const auto parts = workloads_of(std::move(run));
    const auto& operations = parts.at(0).graph.ranks[0]->operations;
    EXPECT_TRUE(operations[1].dependencies.empty());
    EXPECT_EQ(operations[1].gap, microseconds(15));
    ASSERT_FALSE(parts.at(0).files[0].warnings.empty());
}

TEST(ListedRun, MatchesCollectivesByNumberAndDropsThoseOfOneRankAlone) {
    // A ring buffer lost the first on rank 1, and the last was not written yet on rank 0.
    auto parts = workloads_of(run_of(
        {{collective(7), collective(8), collective(9)},
         {collective(9), collective(8), collective(10)}}));
    EXPECT_EQ(parts[0].files[0].dropped.at("collectives that other ranks' files do not hold"), 1U);
    EXPECT_EQ(parts[1].files[0].dropped.at("collectives that other ranks' files do not hold"), 1U);
    EXPECT_EQ(body_of(parts[1], 0).sequence, 0U) << "8, as on rank 0";
    const TraceWorkload joined = join_ranks(std::move(parts));
    check(joined.graph);
    const RankAlignment alignment = align_ranks(joined);
    EXPECT_TRUE(alignment.problems.empty());
    EXPECT_EQ(alignment.collectives.size(), 2U);
}

TEST(ListedRun, MatchesSendsAndReceivesFromTheLast) {
    const auto parts = workloads_of(run_of(
        {{transfer(true, 1), transfer(true, 1), transfer(false, 1)},
         {transfer(false, 0), transfer(true, 0)}}));
    EXPECT_EQ(
        parts[0].files[0].dropped.at("sends and receives that the peers' files do not hold"), 1U);
    EXPECT_EQ(parts[0].graph.ranks[0]->operations.size(), 2U);
    EXPECT_EQ(parts[0].graph.ranks[0]->streams.size(), 2U) << "to 1 and from 1";
    EXPECT_EQ(parts[1].graph.ranks[0]->operations.size(), 2U);
}

TEST(ListedRun, RefusesRanksThatShareNothing) {
    try {
        static_cast<void>(workloads_of(run_of({{collective(1)}, {collective(2)}})));
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_NE(
            std::string(error.what()).find("rank0: /: holds nothing that the other ranks'"),
            std::string::npos)
            << error.what();
    }
}

TEST(ListedRun, RefusesTimesTooFarApart) {
    EXPECT_THROW(
        static_cast<void>(
            workloads_of(run_of({{collective(0, 0), collective(1, 5'000'000'000'000'000)}}))),
        ConfigError);
}

TEST(CollectiveNames, OfCallsAndPrograms) {
    EXPECT_EQ(collective_named("AllReduce"), CollectiveKind::kAllReduce);
    EXPECT_EQ(collective_named("nccl:_all_gather_base"), CollectiveKind::kAllGather);
    EXPECT_EQ(collective_named("nccl:_reduce_scatter_base"), CollectiveKind::kReduceScatter);
    EXPECT_EQ(collective_named("nccl:_reduce_oop"), CollectiveKind::kReduce);
    EXPECT_EQ(collective_named("reduce_perf"), CollectiveKind::kReduce);
    EXPECT_EQ(collective_named("alltoall_perf"), CollectiveKind::kAllToAll);
    EXPECT_EQ(collective_named("nccl:all_to_all"), CollectiveKind::kAllToAll);
    EXPECT_EQ(collective_named("sendrecv_perf"), CollectiveKind::kSendReceive);
    EXPECT_EQ(collective_named("nccl:gather"), CollectiveKind::kGather);
    EXPECT_EQ(collective_named("Scatter"), CollectiveKind::kScatter);
    EXPECT_EQ(collective_named("nccl:broadcast"), CollectiveKind::kBroadcast);
    EXPECT_EQ(collective_named("nccl:barrier"), std::nullopt);
    EXPECT_EQ(collective_named("nccl:coalesced"), std::nullopt);
    EXPECT_EQ(collective_named("Send"), std::nullopt);
    EXPECT_EQ(collective_named(""), std::nullopt);
}

}  // namespace
}  // namespace switchfold::listed_run_test
