// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/rank_classes.h"

#include "workloads/graph/execution_graph.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace switchfold::rank_classes_test {
namespace {

using Ranks = std::vector<std::uint32_t>;
using Groups = std::vector<Ranks>;

TEST(RankClasses, RanksWithoutDifferenceAreOfOne) {
    EXPECT_EQ(rank_classes({Groups{{0, 1}, {2, 3}}}, Ranks(4, 0)), Ranks(4, 0));
    EXPECT_EQ(class_sizes(Ranks(4, 0)), (Ranks{4, 0, 0, 0}));
    EXPECT_EQ(rank_classes({}, {0, 7, 0}), (Ranks{0, 1, 0}));
}

TEST(RankClasses, ASlowRankSetsItsGroupsApart) {
    // Two by four: pairs, and every second rank. Rank 5 is slow: its pair, those of its place in
    // other pairs, and the rest each wait for it in another way.
    const Groups pairs{{0, 1}, {2, 3}, {4, 5}, {6, 7}};
    const Groups places{{0, 2, 4, 6}, {1, 3, 5, 7}};
    Ranks first(8, 0);
    first[5] = 1;
    const Ranks classes = rank_classes({pairs, places}, first);
    EXPECT_EQ(classes, (Ranks{0, 1, 0, 1, 4, 5, 0, 1}));
    EXPECT_EQ(class_sizes(classes), (Ranks{3, 3, 0, 0, 1, 1, 0, 0}));
}

TEST(RankClasses, RanksThatAreInNoGroupOfAnOrbitAreNotLikeThoseThatAre) {
    EXPECT_EQ(rank_classes({Groups{{0, 1}}}, Ranks(4, 0)), (Ranks{0, 0, 2, 2}));
}

TEST(RankWeights, AreRelativeToTheRankThatStandsForMost) {
    ExecutionGraph graph;
    RankGraph works;
    works.operations.push_back({});
    graph.ranks.assign(3, std::make_shared<const RankGraph>(std::move(works)));
    graph.ranks.push_back(std::make_shared<const RankGraph>());
    EXPECT_EQ(RankWeights(graph).of(1), 1);
    EXPECT_EQ(RankWeights(graph).total(), 3);
    EXPECT_EQ(represented_ranks(graph), 3U);
    graph.represents = {6, 2, 1, 0};
    EXPECT_EQ(RankWeights(graph).of(0), 1);
    EXPECT_DOUBLE_EQ(RankWeights(graph).of(1), 1.0 / 3);
    EXPECT_DOUBLE_EQ(RankWeights(graph).total(), 1.5);
    EXPECT_EQ(represented_ranks(graph), 9U);
}

}  // namespace
}  // namespace switchfold::rank_classes_test
