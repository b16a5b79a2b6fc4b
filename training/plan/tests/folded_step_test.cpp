// SPDX-License-Identifier: Apache-2.0
#include "training/plan/fold/folded_step.h"

#include "training/network/decoder.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace switchfold::folded_step_test {
namespace {

TrainingStep step_of(const ParallelPlan& plan) {
    GptShape shape;
    shape.layers = 16;
    shape.hidden = 512;
    shape.heads = 8;
    shape.sequence = 256;
    shape.vocabulary = 1024;
    return {decoder("small", shape), KernelTimes(test_data::ampere()), plan};
}

ParallelPlan plan() {
    ParallelPlan plan;
    plan.tensor = 4;
    plan.data = 2;
    plan.pipeline = 4;
    plan.accumulate = 8;
    plan.overlap_gradients = false;
    plan.partition = {0, 36, 70, 104};
    return plan;
}

TEST(FoldedStep, AlikePassesAreOnePiece) {
    ParallelPlan p = plan();
    const TrainingStep balanced = step_of(p);
    const FoldedStep folded(balanced, 8);
    EXPECT_LE(
        folded.whole().pieces.size(), 2 * 4U);  // forward and backward of every distinct stage
    p.partition = equal_partition(balanced.network(), 4);
    const TrainingStep equal = step_of(p);
    // The two middle stages are alike, which leaves three kinds: first, middle and last.
    const FoldedStep alike(equal, 8);
    EXPECT_EQ(alike.whole().pieces.size(), 2 * 3U);
    ASSERT_EQ(alike.collectives().size(), 1U);
    EXPECT_EQ(alike.collectives().front().members, FoldedGroup::kReplicas);
    EXPECT_EQ(alike.collectives().front().bytes.size(), 3U);
}

TEST(FoldedStep, OneRankOfEachDeviceWorksAndTheProbeIsRunOnOneMachine) {
    const TrainingStep step = step_of(plan());
    const FoldedStep folded(step, 8);
    const ExecutionGraph graph = folded.graph(folded.each(microseconds(7)));
    EXPECT_EQ(graph.ranks.size(), 32U);
    EXPECT_EQ(ranks_at_work(graph), 4U);
    EXPECT_EQ(graph.training, plan_step(step).training);
    for (const std::uint32_t rank : {0U, 8U, 16U, 24U}) {
        double passes = 0;
        for (const Span& span : graph.ranks[rank]->spans)
            passes += span.phase == Phase::kOptimizer ? 0 : 1;
        EXPECT_EQ(passes, 2 * 8);
        for (const Operation& operation : graph.ranks[rank]->operations)
            if (const auto* c = std::get_if<CollectiveOperation>(&operation.body)) {
                const bool replicas = graph.groups[c->group].name == "gradients";
                EXPECT_EQ(c->given, replicas ? microseconds(7) : Time());
                EXPECT_FALSE(c->holds_blocks);
            }
    }
    EXPECT_EQ(ranks_at_work(folded.probe()), 8U);
    check(graph);
    check(folded.probe());
    check(folded.whole().graph);
}

std::size_t kernels_of(const ExecutionGraph& graph, std::uint32_t rank) {
    std::size_t kernels = 0;
    for (const Operation& operation : graph.ranks[rank]->operations)
        kernels += std::holds_alternative<KernelOperation>(operation.body) ? 1 : 0;
    return kernels;
}

/// Collectives of a rank within its device, and how many of them hold blocks and have one member.
void expect_stand_ins(const FoldedStep& folded, const ExecutionGraph& graph) {
    std::size_t within = 0;
    for (std::uint32_t rank = 0; rank < graph.ranks.size(); ++rank)
        for (const Operation& operation : graph.ranks[rank]->operations)
            if (const auto* c = std::get_if<CollectiveOperation>(&operation.body);
                c != nullptr && c->given > Time()) {
                ++within;
                EXPECT_TRUE(c->holds_blocks);
                EXPECT_EQ(graph.groups[c->group].ranks, std::vector<std::uint32_t>{rank});
            }
    EXPECT_GT(within, 0U);
    EXPECT_FALSE(folded.collectives().empty());
    check(graph);
}

TEST(FoldedStep, PassesBesideWhichGradientsAreReducedAreWrittenInFull) {
    ParallelPlan p = plan();
    p.overlap_gradients = true;
    p.bucket = p.first_bucket = kibibytes(256);
    const TrainingStep step = step_of(p);
    EXPECT_FALSE(folds_by_passes(step));
    EXPECT_TRUE(folds_by_passes(step_of(plan())));
    const FoldedStep folded(step, 8);
    const ExecutionGraph graph = folded.graph(folded.each(microseconds(7)));
    expect_stand_ins(folded, graph);
    const ExecutionGraph whole = plan_step(step);
    const FoldedStep apart(step_of(plan()), 8);
    const ExecutionGraph quiet = apart.graph(apart.each(microseconds(7)));
    for (const std::uint32_t rank : {0U, 8U, 16U, 24U}) {
        // The last backward of each device, and nothing before.
        EXPECT_GT(kernels_of(graph, rank), kernels_of(quiet, rank));
        EXPECT_LT(kernels_of(graph, rank), kernels_of(whole, rank) / 4);
    }
}

TEST(FoldedStep, StepsInWhichReplicasMeetInEveryPassAreWrittenInFull) {
    ParallelPlan sharded = plan();
    sharded.sharding = Sharding::kParameters;
    ParallelPlan ahead = plan();
    ahead.launch_times.kernel = microseconds(3);
    for (const ParallelPlan& p : {sharded, ahead}) {
        const TrainingStep step = step_of(p);
        const FoldedStep folded(step, 8);
        EXPECT_TRUE(folded.whole().pieces.empty());
        EXPECT_EQ(ranks_at_work(folded.whole().graph), 0U);
        const ExecutionGraph graph = folded.graph(folded.each(microseconds(7)));
        expect_stand_ins(folded, graph);
        EXPECT_EQ(kernels_of(graph, 8), kernels_of(plan_step(step), 8));
    }
}

TEST(FoldedGroups, AreThoseOfThePlansRanks) {
    ParallelPlan p;
    p.tensor = 2;
    p.context = 2;
    p.data = 4;
    p.expert = 2;
    p.pipeline = 3;
    const FoldedGroups groups(p, 8, {0, 1, 2, 3, 4, 5, 6, 7});
    using Ranks = std::vector<std::uint32_t>;
    EXPECT_EQ(groups.group(FoldedGroup::kTensor, 6), (Ranks{6, 7}));
    EXPECT_EQ(groups.group(FoldedGroup::kContext, 5), (Ranks{5, 7}));
    EXPECT_EQ(groups.group(FoldedGroup::kExpert, 9), (Ranks{9, 13}));
    EXPECT_EQ(groups.group(FoldedGroup::kReplicas, 1), (Ranks{1, 3, 5, 7, 9, 11, 13, 15}));
    EXPECT_EQ(groups.group(FoldedGroup::kExpertReplicas, 4), (Ranks{4, 6, 12, 14}));
    EXPECT_EQ(groups.members_of({16 + 4, 16 + 6, 16 + 12, 16 + 14}), std::nullopt);
    EXPECT_EQ(groups.members_of({16, 18, 24, 26}), FoldedGroup::kExpertReplicas);
    EXPECT_EQ(groups.members_of({0, 16, 32}), std::nullopt);
    EXPECT_EQ(groups.ranks(FoldedGroup::kTensor), 8U);
    EXPECT_EQ(groups.ranks(FoldedGroup::kReplicas), 16U);
}

TEST(FoldedGroups, ExpertsOverSeveralNodesHaveThoseOfANodeAndOfAPlace) {
    ParallelPlan p;
    p.tensor = 2;
    p.data = 8;
    p.expert = 4;
    p.pipeline = 2;
    p.node_ranks = 4;
    p.expert_nodes = 1;
    const FoldedGroups groups(p, 4, {0, 1, 2, 3, 4, 5, 6, 7});
    using Ranks = std::vector<std::uint32_t>;
    EXPECT_EQ(groups.group(FoldedGroup::kExpertNode, 3), (Ranks{1, 3}));
    EXPECT_EQ(groups.group(FoldedGroup::kExpertRail, 3), (Ranks{3, 7}));
    EXPECT_EQ(groups.members_of({16, 18}), FoldedGroup::kExpertNode);
    EXPECT_EQ(groups.members_of({16, 20}), FoldedGroup::kExpertRail);
    EXPECT_EQ(groups.ranks(FoldedGroup::kExpertNode), 4U);
    EXPECT_EQ(groups.ranks(FoldedGroup::kExpertRail), 8U);
}

TEST(FoldedGroups, AProbeOfFewerReplicasHasAsManyBytesARank) {
    ParallelPlan p;
    p.tensor = 4;
    p.data = 32;
    const CollectiveFamily family{
        FoldedGroup::kReplicas,
        CollectiveKind::kAllGather,
        Datatype::kBfloat16,
        {Bytes(32 * 16), Bytes(32 * 160)}};
    struct Case {
        std::vector<std::uint32_t> ways;
        std::uint32_t groups;
    };
    // Two GPUs to a network interface: the first two groups of four share theirs.
    for (const Case& c :
         {Case{{}, 4}, Case{{0, 1, 2, 3, 4, 5, 6, 7}, 1}, Case{{0, 0, 1, 1, 2, 2, 3, 3}, 2},
          Case{{0, 1, 1, 2, 2, 3, 3, 0}, 2}, Case{{0, 0, 0, 0, 1, 1, 1, 1}, 4}}) {
        const FoldedGroups groups(p, 8, c.ways);
        const ExecutionGraph graph = groups.probe(family, {1, 0}, 64);
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

TEST(FoldedStep, GroupsMustLieOnMachinesAlike) {
    ParallelPlan p = plan();
    p.tensor = 4;
    EXPECT_EQ(why_not_folded(step_of(p), 8), "");
    EXPECT_EQ(
        why_not_folded(step_of(p), 6), "its groups of 4 ranks lie differently on machines of 6");
    // One machine holds all.
    EXPECT_EQ(why_not_folded(step_of(p), ranks_of(p) + 1), "");
}

}  // namespace
}  // namespace switchfold::folded_step_test
