// SPDX-License-Identifier: Apache-2.0
#include "workloads/fold/fold_alike.h"
#include "workloads/graph/extrapolate.h"
#include "workloads/graph/spread.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace switchfold::fold_test {
namespace {

using Ranks = std::vector<std::uint32_t>;

TEST(GroupOrbits, AProbeOfFewerMembersHasAsManyBytesARank) {
    std::vector<Ranks> replicas(4);
    for (std::uint32_t rank = 0; rank < 128; ++rank)
        replicas[rank % 4].push_back(rank);
    CollectiveFamily family;
    family.operation.kind = CollectiveKind::kAllGather;
    family.operation.datatype = Datatype::kBfloat16;
    family.calls = {{Bytes(32 * 16), {}}, {Bytes(32 * 160), {}}};
    struct Case {
        Ranks ways;
        std::uint32_t groups;
    };
    // Two GPUs to a network interface: the first two groups of four share theirs.
    for (const Case& c :
         {Case{{}, 4}, Case{{0, 1, 2, 3, 4, 5, 6, 7}, 1}, Case{{0, 0, 1, 1, 2, 2, 3, 3}, 2},
          Case{{0, 1, 1, 2, 2, 3, 3, 0}, 2}, Case{{0, 0, 0, 0, 1, 1, 1, 1}, 4}}) {
        GroupOrbits orbits(8, c.ways);
        const GroupOrbit orbit = orbit_of_groups(replicas, 8, 128);
        EXPECT_TRUE(orbit.apart);
        EXPECT_EQ(orbit.stride, 4U);
        EXPECT_EQ(orbit.ranks, 128U);
        family.orbit = orbits.add(orbit);
        EXPECT_EQ(orbits.whole_ranks(family.orbit, 63), 64U);
        const ExecutionGraph graph = orbits.probe(family, {1, 0}, 64);
        check(graph);
        EXPECT_EQ(graph.groups.size(), c.groups);
        EXPECT_EQ(graph.groups.front().ranks.size(), 16U);
        EXPECT_EQ(ranks_at_work(graph), 16 * c.groups);
        const auto& operations = graph.ranks[0]->operations;
        ASSERT_EQ(operations.size(), 5U);
        EXPECT_EQ(std::get<CollectiveOperation>(operations[1].body).bytes, Bytes(16 * 160));
        EXPECT_EQ(std::get<CollectiveOperation>(operations[3].body).bytes, Bytes(16 * 16));
    }
}

TEST(GroupOrbits, AProbeHasWholeMachinesAndWholeGroups) {
    // Neighbours by twos, on machines of four.
    EXPECT_EQ(orbit_of_groups({{0, 1}, {2, 3}, {4, 5}, {6, 7}}, 4, 8).ranks, 4U);
    EXPECT_FALSE(orbit_of_groups({{0, 1}, {2, 3}, {4, 5}, {6, 7}}, 4, 8).apart);
    // The third is on two machines, so the second machine is needed.
    EXPECT_EQ(orbit_of_groups({{0, 1}, {2, 5}, {3, 4}, {6, 7}}, 4, 12).ranks, 8U);
    // Groups of other ranks than the first, and a machine that is not full.
    EXPECT_EQ(orbit_of_groups({{4, 5}, {6, 7}}, 4, 12).ranks, 8U);
    EXPECT_EQ(orbit_of_groups({{0, 1, 2}}, 8, 3).ranks, 3U);
    EXPECT_EQ(orbit_of_groups({{0, 1, 2, 3}, {4, 5, 6, 7}}, 4, 8).stride, 8U);
}

Operation operation_of(const OperationBody& body) {
    Operation operation;
    operation.body = body;
    return operation;
}

CollectiveOperation collective(CollectiveKind kind, std::uint32_t group, Time late = {}) {
    CollectiveOperation one;
    one.kind = kind;
    one.bytes = mebibytes(1);
    one.group = group;
    one.peers_late = late;
    return one;
}

/// One rank of `world`, with an all-reduce of all and two exchanges of its pair.
ExecutionGraph trace_of_one(std::uint32_t world) {
    ExecutionGraph graph;
    graph.names = {"all"};
    graph.groups = {{"world", {}}, {"pair", {0, 1}}};
    for (std::uint32_t rank = 0; rank < world; ++rank)
        graph.groups[0].ranks.push_back(rank);
    RankGraph one;
    one.streams = {{StreamKind::kGpu, "7", 0}};
    one.operations.push_back(operation_of(collective(CollectiveKind::kAllReduce, 0)));
    for (const Time late : {Time(), microseconds(5)})
        one.operations.push_back(operation_of(collective(CollectiveKind::kAllToAll, 1, late)));
    graph.ranks = {std::make_shared<const RankGraph>(std::move(one))};
    return graph;
}

const CollectiveOperation& body(const ExecutionGraph& graph, std::size_t index) {
    return std::get<CollectiveOperation>(graph.ranks[0]->operations[index].body);
}

TEST(FoldAlike, OneRankStandsForAllAndItsCollectivesAreMeasuredOnTheirGroups) {
    ExecutionGraph graph = trace_of_one(4);
    const Spread spread = spread_over_ranks(
        graph, 0, 4, 8, [](std::size_t) { return Time(); }, SpreadMessages::kMatch, {true, {}});
    EXPECT_TRUE(spread.problems.empty());
    EXPECT_EQ(ranks_at_work(graph), 1U);
    EXPECT_EQ(graph.ranks.size(), 8U);
    const FoldedGraph folded = fold_alike(std::move(graph), spread.orbits, 4, {0, 1, 2, 3});
    ASSERT_EQ(folded.collectives().size(), 2U);
    EXPECT_EQ(folded.orbits().at(folded.collectives()[0].orbit).groups.size(), 1U);
    EXPECT_EQ(folded.orbits().at(folded.collectives()[0].orbit).ranks, 8U);
    EXPECT_EQ(folded.orbits().at(folded.collectives()[1].orbit).groups.size(), 4U);
    EXPECT_EQ(folded.orbits().at(folded.collectives()[1].orbit).ranks, 4U);
    // Only a part of an exchange waits for late peers, so each lateness is measured.
    EXPECT_EQ(folded.collectives()[1].calls.size(), 2U);
    check(folded.probe());
    EXPECT_EQ(ranks_at_work(folded.probe()), 8U);

    FoldedGraph::Measured measured = folded.each(microseconds(20));
    measured.collectives[1][1].traffic = kibibytes(4);
    const ExecutionGraph step = folded.graph(measured);
    check(step);
    EXPECT_EQ(step.groups[body(step, 0).group].ranks, Ranks{0});
    EXPECT_EQ(step.groups[body(step, 0).group].stands_for, 8U);
    EXPECT_EQ(body(step, 0).given, microseconds(20));
    EXPECT_TRUE(body(step, 0).holds_blocks);
    EXPECT_EQ(body(step, 1).given, microseconds(20));
    // What is left after the peers have come, of its time and its bytes.
    EXPECT_EQ(body(step, 2).peers_late, microseconds(5));
    EXPECT_EQ(body(step, 2).given, microseconds(15));
    EXPECT_EQ(body(step, 2).given_traffic, kibibytes(3));
}

TEST(FoldAlike, UnlikeRanksOfOneKindAreRepresentedByTheFirst) {
    ExecutionGraph graph = trace_of_one(4);
    const Spread spread = spread_over_ranks(
        graph, 0, 4, 8, [](std::size_t) { return Time(); }, SpreadMessages::kMatch,
        {true, {{2, 1}, {3, 1}, {7, 2}}});
    EXPECT_TRUE(spread.problems.empty());
    // The rest; the slow pair; the pair of the other slow one, and this.
    EXPECT_EQ(graph.represents, (Ranks{4, 0, 2, 0, 0, 0, 1, 1}));
    EXPECT_EQ(ranks_at_work(graph), 4U);
}

TEST(FoldAlike, TracedRanksStandForTheirCopies) {
    ExecutionGraph graph = trace_of_one(2);
    graph.ranks.push_back(graph.ranks.front());
    graph.groups[1].ranks = {1};
    const Extrapolated more = extrapolate(graph, 6, {true, {}});
    EXPECT_EQ(ranks_at_work(graph), 2U);
    EXPECT_EQ(more.orbits, (std::vector<Ranks>{{0}, {1, 2, 3}}));
    const FoldedGraph folded = fold_alike(std::move(graph), more.orbits, 2, {0, 1});
    // The group of one rank has nothing to measure.
    ASSERT_EQ(folded.collectives().size(), 1U);
    const ExecutionGraph step = folded.graph(folded.each(microseconds(20)));
    EXPECT_EQ(step.groups[0].ranks, (Ranks{0, 1}));
    EXPECT_EQ(step.groups[0].stands_for, 6U);
}

TEST(FoldAlike, RanksThatSendToEachOtherAreNotFolded) {
    ExecutionGraph graph = trace_of_one(4);
    RankGraph one = *graph.ranks.front();
    SendOperation send;
    send.peer = 1;
    send.bytes = kibibytes(1);
    ReceiveOperation receive;
    receive.peer = 3;
    receive.bytes = kibibytes(1);
    one.operations.push_back(operation_of(send));
    one.operations.push_back(operation_of(receive));
    graph.ranks = {std::make_shared<const RankGraph>(std::move(one))};
    graph.groups.pop_back();
    graph.groups.push_back({"all", {0, 1, 2, 3}});
    const Spread spread = spread_over_ranks(
        graph, 0, 4, 4, [](std::size_t) { return Time(); }, SpreadMessages::kMatch, {true, {}});
    EXPECT_TRUE(spread.problems.empty());
    EXPECT_GT(spread.matched, 0U);
    EXPECT_TRUE(spread.orbits.empty());
    EXPECT_EQ(ranks_at_work(graph), 4U);
}

}  // namespace
}  // namespace switchfold::fold_test
