// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/execution_graph.h"

#include "core/error.h"
#include "workloads/graph/collective.h"

#include <gtest/gtest.h>

namespace switchfold::execution_graph_test {
namespace {

ExecutionGraph two_kernels() {
    ExecutionGraph graph;
    graph.names = {"k"};
    graph.groups = {{"world", {0}}};
    auto rank = std::make_shared<RankGraph>();
    rank->streams = {{StreamKind::kGpu, "7", 0}};
    Operation kernel;
    kernel.body = KernelOperation{};
    rank->operations = {kernel, kernel};
    graph.ranks = {rank};
    return graph;
}

/// A copy of the graph with one operation changed.
template <class Change>
ExecutionGraph with(std::size_t index, Change change) {
    ExecutionGraph graph = two_kernels();
    auto rank = std::make_shared<RankGraph>(*graph.ranks[0]);
    change(rank->operations[index]);
    graph.ranks[0] = rank;
    return graph;
}

TEST(ExecutionGraph, ChecksWhatModelsRelyOn) {
    EXPECT_NO_THROW(check(two_kernels()));
    EXPECT_NO_THROW(check(with(1, [](Operation& o) { o.dependencies = {0}; })));
    EXPECT_THROW(check(with(0, [](Operation& o) { o.dependencies = {1}; })), InternalError);
    EXPECT_THROW(check(with(1, [](Operation& o) { o.dependencies = {1}; })), InternalError);
    EXPECT_THROW(check(with(1, [](Operation& o) { o.stream = 1; })), InternalError);
    EXPECT_THROW(check(with(1, [](Operation& o) { o.name = 1; })), InternalError);
    EXPECT_NO_THROW(check(with(1, [](Operation& o) { o.body = CollectiveOperation{}; })));
    EXPECT_THROW(
        check(with(
            1,
            [](Operation& o) {
                CollectiveOperation collective;
                collective.group = 1;
                o.body = collective;
            })),
        InternalError);
    ExecutionGraph empty_group = with(1, [](Operation& o) { o.body = CollectiveOperation{}; });
    empty_group.groups[0].ranks.clear();
    EXPECT_THROW(check(empty_group), InternalError);
    ExecutionGraph no_rank = two_kernels();
    no_rank.ranks.push_back(nullptr);
    EXPECT_THROW(check(no_rank), InternalError);
}

TEST(ExecutionGraph, NamesTheOffender) {
    const ExecutionGraph graph = with(0, [](Operation& o) { o.dependencies = {1}; });
    try {
        check(graph);
        FAIL() << "a forward dependency was accepted";
    } catch (const InternalError& error) {
        EXPECT_NE(std::string(error.what()).find("operation 0 (k)"), std::string::npos)
            << error.what();
    }
}

TEST(NameTable, GivesEachNameOneIndex) {
    NameTable names;
    EXPECT_EQ(names.intern("a"), 0U);
    EXPECT_EQ(names.intern("b"), 1U);
    EXPECT_EQ(names.intern("a"), 0U);
    EXPECT_EQ(names.take(), (std::vector<std::string>{"a", "b"}));
}

TEST(Datatype, SizesAreTheTypes) {
    EXPECT_EQ(size_of(Datatype::kFloat8), Bytes(1));
    EXPECT_EQ(size_of(Datatype::kInt8), Bytes(1));
    EXPECT_EQ(size_of(Datatype::kUint8), Bytes(1));
    EXPECT_EQ(size_of(Datatype::kFloat16), Bytes(2));
    EXPECT_EQ(size_of(Datatype::kBfloat16), Bytes(2));
    EXPECT_EQ(size_of(Datatype::kFloat32), Bytes(4));
    EXPECT_EQ(size_of(Datatype::kInt32), Bytes(4));
    EXPECT_EQ(size_of(Datatype::kFloat64), Bytes(8));
    EXPECT_EQ(size_of(Datatype::kInt64), Bytes(8));
}

TEST(SingleCollective, IsOneOperationOnEachRank) {
    const ExecutionGraph graph =
        single_collective(CollectiveKind::kAllReduce, mebibytes(256), Datatype::kBfloat16, 8);
    check(graph);
    ASSERT_EQ(graph.ranks.size(), 8U);
    for (const auto& rank : graph.ranks) {
        EXPECT_EQ(rank, graph.ranks[0]) << "ranks share one graph";
        ASSERT_EQ(rank->operations.size(), 1U);
    }
    const auto& collective = std::get<CollectiveOperation>(graph.ranks[0]->operations[0].body);
    EXPECT_EQ(collective.kind, CollectiveKind::kAllReduce);
    EXPECT_EQ(collective.bytes, mebibytes(256));
    EXPECT_EQ(collective.datatype, Datatype::kBfloat16);
    EXPECT_EQ(collective.size_source, SizeSource::kUser);
    EXPECT_EQ(
        graph.groups[collective.group].ranks, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

}  // namespace
}  // namespace switchfold::execution_graph_test
