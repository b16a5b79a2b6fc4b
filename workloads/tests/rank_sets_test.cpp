// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/rank_sets.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace switchfold::rank_sets_test {
namespace {

using Ranks = std::vector<std::uint32_t>;

Operation kernel(std::uint64_t ns) {
    Operation operation;
    KernelOperation body;
    body.isolated = nanoseconds(ns);
    operation.body = body;
    return operation;
}

Operation reduce(std::uint32_t group, std::uint64_t bytes) {
    Operation operation;
    CollectiveOperation body;
    body.group = group;
    body.bytes = Bytes(bytes);
    operation.body = body;
    return operation;
}

Operation send(std::uint32_t peer) {
    Operation operation;
    operation.body = SendOperation{peer, Bytes(8), 1};
    return operation;
}

Operation receive(std::uint32_t peer) {
    Operation operation;
    operation.body = ReceiveOperation{peer, Bytes(8), 1};
    return operation;
}

/// A graph of one stream a rank.
ExecutionGraph
graph_of(const std::vector<std::vector<Operation>>& ranks, const std::vector<Ranks>& groups) {
    ExecutionGraph graph;
    graph.names = {"it"};
    for (const Ranks& group : groups)
        graph.groups.push_back({"group", group});
    for (const auto& operations : ranks) {
        auto rank = std::make_shared<RankGraph>();
        rank->streams = {{StreamKind::kGpu, "7", 0}};
        for (const Operation& operation : operations)
            rank->operations.push_back(operation);
        graph.ranks.push_back(std::move(rank));
    }
    return graph;
}

TEST(RankSets, GrowTogether) {
    RankSets sets(6);
    sets.join(4, 2);
    sets.join(5, 1);
    sets.join(2, 5);
    EXPECT_EQ(sets.all(), (std::vector<Ranks>{{0}, {1, 2, 4, 5}, {3}}));
    EXPECT_EQ(sets.first_of(4), 1U);
}

TEST(RankSets, ContactsAreWhatTiesRanks) {
    const ExecutionGraph graph = graph_of(
        {{reduce(0, 8), kernel(5)}, {reduce(0, 8), send(2)}, {receive(1)}}, {{0, 1}, {0, 2}});
    const auto found = contacts_of(graph);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->groups, Ranks{0});  // nothing runs in the other
    EXPECT_EQ(found->messages, (std::vector{std::pair(1U, 2U)}));
    EXPECT_EQ(found->streams, 1U);
}

TEST(RankSets, HostsAndExchangesTieRanksInOtherWays) {
    Operation copy;
    copy.body = CopyOperation{CopyKind::kHostToDevice, Bytes(8), Time()};
    Operation delay;
    delay.body = HostDelayOperation{nanoseconds(1), true};
    Operation uneven = reduce(0, 8);
    std::get<CollectiveOperation>(uneven.body).exchange = 1;
    Operation dispatch = reduce(0, 8);
    std::get<CollectiveOperation>(dispatch.body).kind = CollectiveKind::kMoeDispatch;
    for (const Operation& other : {copy, delay, uneven, dispatch})
        EXPECT_FALSE(contacts_of(graph_of({{reduce(0, 8), other}}, {{0}})));
    Operation inside;
    inside.body = CopyOperation{CopyKind::kDeviceToDevice, Bytes(8), Time()};
    EXPECT_TRUE(contacts_of(graph_of({{inside}}, {{0}})));
    ExecutionGraph few = graph_of({{kernel(1)}, {}}, {{0}});
    few.represents = {2, 0};
    EXPECT_FALSE(contacts_of(few));
}

TEST(RankSets, DoTheSameAmongThemselves) {
    const ExecutionGraph graph = graph_of(
        {{reduce(0, 8), send(1)},
         {reduce(0, 8), receive(0)},
         {reduce(1, 8), send(3)},
         {reduce(1, 8), receive(2)},
         {reduce(2, 9), send(5)},
         {reduce(2, 9), receive(4)}},
        {{0, 1}, {2, 3}, {4, 5}});
    SameWork same(graph);
    EXPECT_TRUE(same.of({2, 3}, {0, 1}));
    EXPECT_EQ(same.group_images(), (std::map<std::uint32_t, std::uint32_t>{{1, 0}}));
    EXPECT_FALSE(same.of({4, 5}, {0, 1}));  // other bytes
    EXPECT_FALSE(same.of({3, 2}, {0, 1}));  // sender and receiver change places
    EXPECT_FALSE(same.of({2}, {0, 1}));
}

TEST(RankSets, OfOneGroupAndOfSeveralDiffer) {
    const ExecutionGraph graph =
        graph_of({{reduce(0, 8), reduce(0, 8)}, {reduce(1, 8), reduce(2, 8)}}, {{0}, {1}, {1}});
    EXPECT_FALSE(SameWork(graph).of({1}, {0}));
}

}  // namespace
}  // namespace switchfold::rank_sets_test
