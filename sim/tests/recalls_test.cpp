// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/recalls.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace switchfold::recalls_test {
namespace {

/// A rank whose stream 0 runs kernels and whose stream 1 runs collectives.
class Rank {
public:
    Rank() { rank_.streams.resize(2); }
    std::uint32_t kernel(Dependencies needs = {}) { return add(0, KernelOperation(), needs); }
    std::uint32_t collective(CollectiveKind kind, Dependencies needs = {}) {
        CollectiveOperation body;
        body.kind = kind;
        return add(1, body, needs);
    }
    /// On four such ranks with groups of so many.
    [[nodiscard]] Recall recall(std::uint32_t together = 4) const {
        ExecutionGraph graph;
        graph.ranks.assign(4, std::make_shared<RankGraph>(rank_));
        for (std::uint32_t first = 0; first < 4; first += together) {
            graph.groups.emplace_back();
            for (std::uint32_t rank = first; rank < first + together; ++rank)
                graph.groups.back().ranks.push_back(rank);
        }
        return may_recall(graph);
    }

private:
    std::uint32_t add(std::uint32_t stream, OperationBody body, Dependencies needs) {
        Operation operation;
        operation.stream = stream;
        operation.dependencies = std::move(needs);
        operation.body = body;
        rank_.operations.push_back(operation);
        return static_cast<std::uint32_t>(rank_.operations.size() - 1);
    }
    RankGraph rank_;
};

TEST(Recalls, MessagesOfAStepWhoseCollectivesAreMeasured) {
    ExecutionGraph graph;
    const auto with = [&](Time given) {
        CollectiveOperation body;
        body.given = given;
        Operation operation;
        operation.body = body;
        RankGraph rank;
        rank.streams.resize(1);
        rank.operations.push_back(operation);
        graph.ranks.assign(2, std::make_shared<RankGraph>(rank));
        return may_remember_messages(graph);
    };
    graph.provenance.synthetic = true;
    EXPECT_FALSE(with(Time()));
    EXPECT_TRUE(with(microseconds(1)));
    graph.provenance.synthetic = false;  // a trace, whose collectives take what they took
    EXPECT_FALSE(with(microseconds(1)));
}

TEST(Recalls, NoneBesideKernelsThatNeverWait) {
    Rank rank;
    for (int i = 0; i < 3; ++i) {
        rank.kernel();
        rank.collective(CollectiveKind::kAllReduce);
    }
    EXPECT_EQ(rank.recall(), Recall::kAlone);
}

TEST(Recalls, BesideKernelsOfAStepThatReducesGradientsInOneGroup) {
    Rank rank;
    std::uint32_t reduced = 0;
    for (int i = 0; i < 3; ++i)
        reduced = rank.collective(CollectiveKind::kAllReduce, {rank.kernel()});
    rank.kernel({reduced});
    EXPECT_EQ(rank.recall(), Recall::kBesideKernels);
    EXPECT_EQ(rank.recall(2), Recall::kTogether);
}

TEST(Recalls, BesideKernelsWhereWeightsAreGatheredAhead) {
    Rank rank;
    std::uint32_t gathered = rank.collective(CollectiveKind::kAllGather);
    for (int i = 0; i < 4; ++i) {
        const std::uint32_t next = rank.collective(CollectiveKind::kAllGather);
        rank.kernel({gathered});
        gathered = next;
    }
    EXPECT_EQ(rank.recall(), Recall::kBesideKernels);
}

TEST(Recalls, NoneBesideKernelsWhereTheyAlternateWithCollectivesThatEndApart) {
    for (const auto& [kind, recall] :
         {std::pair(CollectiveKind::kAllGather, Recall::kAlone),
          std::pair(CollectiveKind::kReduceScatter, Recall::kAlone),
          std::pair(CollectiveKind::kAllReduce, Recall::kBesideKernels)}) {
        Rank rank;
        std::uint32_t kernel = rank.kernel();
        for (int i = 0; i < 3; ++i)
            kernel = rank.kernel({rank.collective(kind, {kernel})});
        EXPECT_EQ(rank.recall(), recall);
    }
}

TEST(Recalls, OneSuchAtTheEndOfAStepIsNoMatter) {
    Rank rank;
    rank.kernel({rank.collective(CollectiveKind::kReduceScatter, {rank.kernel()})});
    EXPECT_EQ(rank.recall(), Recall::kBesideKernels);
}

}  // namespace
}  // namespace switchfold::recalls_test
