// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/order_check.h"

#include <gtest/gtest.h>

namespace switchfold::order_check_test {
namespace {

Operation on(std::uint32_t stream, OperationBody body) {
    Operation operation;
    operation.stream = stream;
    operation.body = std::move(body);
    return operation;
}

CollectiveOperation call(CollectiveKind kind, std::uint32_t group, std::uint64_t sequence) {
    CollectiveOperation c;
    c.kind = kind;
    c.group = group;
    c.sequence = sequence;
    c.bytes = Bytes(1024);
    return c;
}

ExecutionGraph two(const std::vector<Operation>& zero, const std::vector<Operation>& one) {
    ExecutionGraph graph;
    graph.names = {"x"};
    graph.groups = {{"a", {0, 1}}, {"b", {0, 1}}};
    for (const auto* operations : {&zero, &one}) {
        auto rank = std::make_shared<RankGraph>();
        rank->streams = {{StreamKind::kGpu, "7", 0}, {StreamKind::kGpu, "20", 0}};
        for (const Operation& operation : *operations)
            rank->operations.push_back(operation);
        graph.ranks.push_back(rank);
    }
    return graph;
}

constexpr auto kReduce = CollectiveKind::kAllReduce;

TEST(OrderCheck, CallsInTheSameOrderEnd) {
    const std::vector<Operation> both{on(0, call(kReduce, 0, 0)), on(0, call(kReduce, 1, 0))};
    EXPECT_TRUE(why_it_cannot_end(two(both, both)).empty());
}

TEST(OrderCheck, TwoGroupsInDifferentOrderEndOnTwoStreamsOnly) {
    EXPECT_TRUE(why_it_cannot_end(two({on(0, call(kReduce, 0, 0)), on(1, call(kReduce, 1, 0))},
                                      {on(1, call(kReduce, 1, 0)), on(0, call(kReduce, 0, 0))}))
                    .empty());
    const std::vector<std::string> why = why_it_cannot_end(
        two({on(0, call(kReduce, 0, 0)), on(0, call(kReduce, 1, 0))},
            {on(0, call(kReduce, 1, 0)), on(0, call(kReduce, 0, 0))}));
    ASSERT_EQ(why.size(), 2U);
    EXPECT_EQ(why[0], "all_reduce number 0 of group a waits for rank 1");
    EXPECT_EQ(why[1], "all_reduce number 0 of group b waits for rank 0");
}

TEST(OrderCheck, CallsOfOtherKindOrSizeAreTold) {
    CollectiveOperation small = call(kReduce, 0, 0);
    small.bytes = Bytes(512);
    EXPECT_EQ(why_it_cannot_end(two({on(0, call(kReduce, 0, 0))}, {on(0, small)})).size(), 1U);
    small.exchange = 1;
    CollectiveOperation large = call(kReduce, 0, 0);
    large.exchange = 1;
    EXPECT_TRUE(why_it_cannot_end(two({on(0, large)}, {on(0, small)})).empty())
        << "an uneven exchange";
    EXPECT_EQ(
        why_it_cannot_end(
            two({on(0, call(kReduce, 0, 0))}, {on(0, call(CollectiveKind::kAllGather, 0, 0))}))
            .size(),
        1U);
}

TEST(OrderCheck, SendsMatchReceivesOfTheirTag) {
    EXPECT_TRUE(why_it_cannot_end(two({on(0, SendOperation{1, Bytes(8), 3})},
                                      {on(0, ReceiveOperation{0, Bytes(8), 3})}))
                    .empty());
    EXPECT_EQ(
        why_it_cannot_end(
            two({on(0, SendOperation{1, Bytes(8), 3})}, {on(0, ReceiveOperation{0, Bytes(8), 4})}))
            .size(),
        2U);
    EXPECT_EQ(
        why_it_cannot_end(
            two({on(0, SendOperation{1, Bytes(8), 3})}, {on(0, ReceiveOperation{0, Bytes(9), 3})}))
            .front(),
        "rank 0 sends 8 B to rank 1, which receives 9 B");
    // Both send first: neither comes to its receive.
    EXPECT_FALSE(
        why_it_cannot_end(
            two({on(0, SendOperation{1, Bytes(8), 0}), on(0, ReceiveOperation{1, Bytes(8), 0})},
                {on(0, SendOperation{0, Bytes(8), 0}), on(0, ReceiveOperation{0, Bytes(8), 0})}))
            .empty());
}

TEST(OrderCheck, AHeldKernelWaitsForItsGroup) {
    CollectiveOperation held = call(kReduce, 0, 0);
    held.given = microseconds(5);
    EXPECT_TRUE(why_it_cannot_end(two({on(0, held)}, {})).empty()) << "time alone";
    held.holds_blocks = true;
    EXPECT_FALSE(why_it_cannot_end(two({on(0, held)}, {})).empty());
}

}  // namespace
}  // namespace switchfold::order_check_test
