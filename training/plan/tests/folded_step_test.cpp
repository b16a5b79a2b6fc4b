// SPDX-License-Identifier: Apache-2.0
#include "training/plan/fold/folded_step.h"

#include "training/network/decoder.h"
#include "training/plan/fold/kept_places.h"
#include "training/plan/fold/plan_orbits.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

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
    const FoldedGraph folded = folded_step(balanced, 8);
    EXPECT_LE(
        folded.whole().pieces.size(), 2 * 4U);  // forward and backward of every distinct stage
    p.partition = equal_partition(balanced.network(), 4);
    const TrainingStep equal = step_of(p);
    // The two middle stages are alike, which leaves three kinds: first, middle and last.
    const FoldedGraph alike = folded_step(equal, 8);
    EXPECT_EQ(alike.whole().pieces.size(), 2 * 3U);
    ASSERT_EQ(alike.collectives().size(), 1U);
    EXPECT_EQ(alike.orbits().first_group(0), (std::vector<std::uint32_t>{0, 4}));
    EXPECT_EQ(alike.collectives().front().calls.size(), 3U);
}

TEST(FoldedStep, OneRankOfEachDeviceWorksAndTheProbeIsRunOnOneMachine) {
    const TrainingStep step = step_of(plan());
    const FoldedGraph folded = folded_step(step, 8);
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
void expect_stand_ins(const FoldedGraph& folded, const ExecutionGraph& graph) {
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
    const FoldedGraph folded = folded_step(step, 8);
    const ExecutionGraph graph = folded.graph(folded.each(microseconds(7)));
    expect_stand_ins(folded, graph);
    const ExecutionGraph whole = plan_step(step);
    const FoldedGraph apart = folded_step(step_of(plan()), 8);
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
        const FoldedGraph folded = folded_step(step, 8);
        EXPECT_TRUE(folded.whole().pieces.empty());
        EXPECT_EQ(ranks_at_work(folded.whole().graph), 0U);
        const ExecutionGraph graph = folded.graph(folded.each(microseconds(7)));
        expect_stand_ins(folded, graph);
        EXPECT_EQ(kernels_of(graph, 8), kernels_of(plan_step(step), 8));
    }
}

using Ranks = std::vector<std::uint32_t>;

/// Of the orbit that groups like these ranks are of; none: no ranks.
GroupOrbit orbit(PlanOrbits orbits, const Ranks& ranks) {
    const std::optional<std::uint32_t> number = orbits.of(ranks);
    return number ? orbits.take().at(*number) : GroupOrbit();
}

TEST(PlanOrbits, AreThoseOfThePlansRanks) {
    ParallelPlan p;
    p.tensor = 2;
    p.context = 2;
    p.data = 4;
    p.expert = 2;
    p.pipeline = 3;
    const PlanOrbits orbits(p, 8, {0, 1, 2, 3, 4, 5, 6, 7});
    const auto groups = [&](const Ranks& ranks) { return orbit(orbits, ranks).groups; };
    EXPECT_EQ(groups({16, 17}).at(3), (Ranks{6, 7}));  // tensor
    EXPECT_EQ(groups({0, 2}).at(3), (Ranks{5, 7}));    // context
    EXPECT_EQ(groups({0, 4}).at(5), (Ranks{9, 13}));   // experts
    const Ranks replicas{0, 2, 4, 6, 8, 10, 12, 14};
    EXPECT_EQ(groups(replicas).at(1), (Ranks{1, 3, 5, 7, 9, 11, 13, 15}));
    EXPECT_EQ(groups({16, 18, 24, 26}).at(2), (Ranks{4, 6, 12, 14}));  // of the same experts
    EXPECT_EQ(groups({16 + 4, 16 + 6, 16 + 12, 16 + 14}), groups({16, 18, 24, 26}));
    EXPECT_EQ(groups({0, 16, 32}).size(), 0U);
    EXPECT_EQ(orbit(orbits, {0, 1}).ranks, 8U);
    EXPECT_EQ(orbit(orbits, replicas).ranks, 16U);
    PlanOrbits twice = orbits;
    EXPECT_EQ(twice.of({0, 1}), twice.of({16, 17}));
}

TEST(PlanOrbits, ExpertsOverSeveralNodesHaveThoseOfANodeAndOfAPlace) {
    ParallelPlan p;
    p.tensor = 2;
    p.data = 8;
    p.expert = 4;
    p.pipeline = 2;
    p.node_ranks = 4;
    p.expert_nodes = 1;
    const PlanOrbits orbits(p, 4, {0, 1, 2, 3, 4, 5, 6, 7});
    const GroupOrbit node = orbit(orbits, {16, 18});
    const GroupOrbit rail = orbit(orbits, {16, 20});
    EXPECT_EQ(node.groups.at(1), (Ranks{1, 3}));
    EXPECT_EQ(rail.groups.at(3), (Ranks{3, 7}));
    EXPECT_EQ(node.ranks, 4U);
    EXPECT_EQ(rail.ranks, 8U);
}

TEST(KeptPlaces, AreSlowRanksAndOneOfEachKindThatWaitsForThemInAnotherWay) {
    ParallelPlan p;
    p.tensor = 4;
    p.data = 8;
    p.pipeline = 2;
    const auto kept = [&](const std::vector<SlowRank>& slow) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> ranks;
        for (const KeptPlace& one : kept_places(p, slow))
            ranks.emplace_back(RankMap(p).rank(one.place), one.stands_for);
        return ranks;
    };
    using Kept = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
    EXPECT_EQ(kept({}), (Kept{{0, 32}}));
    // Rank 4 * 5 + 2 of the second device: its group, its replicas, and all others.
    EXPECT_EQ(kept({{32 + 22, 1.2, {}}}), (Kept{{0, 21}, {2, 7}, {20, 3}, {22, 1}}));
    p.expert = 4;
    // Replica 5 shares experts with 4, 6 and 7, and replica 1 has the same ones.
    EXPECT_EQ(
        kept({{22, 1.2, {}}}),
        (Kept{{0, 9}, {2, 3}, {4, 3}, {6, 1}, {16, 9}, {18, 3}, {20, 3}, {22, 1}}));
}

TEST(KeptPlaces, AreOneOfEachKindOfGpu) {
    ParallelPlan p;
    p.tensor = 2;
    p.data = 4;
    p.pipeline = 2;
    const auto kept = [&](const std::vector<std::uint32_t>& kinds) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> ranks;
        for (const KeptPlace& one : kept_places(p, {}, kinds))
            ranks.emplace_back(RankMap(p).rank(one.place), one.stands_for);
        return ranks;
    };
    using Kept = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
    // Every second replica of the first device has other GPUs.
    EXPECT_EQ(kept({0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}), (Kept{{0, 4}, {2, 4}}));
    // One rank of the second device: its replica's other one waits for it as well.
    EXPECT_EQ(
        kept({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0}),
        (Kept{{0, 3}, {1, 3}, {2, 1}, {3, 1}}));
    // The second device as a whole: no replica differs from another.
    EXPECT_EQ(kept({0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}), (Kept{{0, 8}}));
}

TEST(FoldedStep, WithASlowRankAllPassesAreWrittenForOneRankOfEachKind) {
    const TrainingStep step = step_of(plan());
    const FoldedGraph folded = folded_step(step, 8, {}, {{5, 1.5, {}}});
    const ExecutionGraph graph = folded.graph(folded.each(microseconds(7)));
    check(graph);
    EXPECT_TRUE(folded.whole().pieces.empty());
    EXPECT_EQ(ranks_at_work(graph), 4 * 4U);
    EXPECT_EQ(represented_ranks(graph), 32U);
    EXPECT_EQ(graph.represents[0], 3U);
    EXPECT_EQ(graph.represents[5], 1U);
    const auto first_kernel = [&](std::uint32_t rank) {
        for (const Operation& operation : graph.ranks[rank]->operations)
            if (const auto* kernel = std::get_if<KernelOperation>(&operation.body))
                return kernel->isolated;
        return Time();
    };
    EXPECT_NEAR(
        static_cast<double>(first_kernel(5).count()) / static_cast<double>(first_kernel(0).count()),
        1.5, 0.01);
    // Nobody waits for a rank that does nothing.
    for (const auto& rank : graph.ranks)
        for (const Operation& operation : rank->operations)
            if (const auto* c = std::get_if<CollectiveOperation>(&operation.body)) {
                for (const std::uint32_t member : graph.groups[c->group].ranks)
                    EXPECT_FALSE(graph.ranks[member]->operations.empty()) << member;
            }
    // Ranks of a tensor-parallel group that are left wait for each other.
    const auto tensor = std::ranges::find_if(graph.groups, [](const Group& group) {
        return group.ranks == std::vector<std::uint32_t>{4, 5};
    });
    ASSERT_NE(tensor, graph.groups.end());
    EXPECT_EQ(tensor->stands_for, 4U);
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
