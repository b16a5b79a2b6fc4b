// SPDX-License-Identifier: Apache-2.0
#include "training/plan/fold/folded_step.h"

#include "training/network/decoder.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace switchfold::folded_step_test {
namespace {

PlannedStep step_of(const ParallelPlan& plan) {
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
    const PlannedStep balanced = step_of(p);
    const FoldedStep folded(balanced, 8);
    // Forward and backward passes of every distinct stage, and its gradients.
    EXPECT_LE(folded.pieces().size(), 2 * 4 + 4U);
    p.partition = equal_partition(balanced.network(), 4);
    const PlannedStep equal = step_of(p);
    // The two middle stages are alike, which leaves three kinds: first, middle and last.
    EXPECT_EQ(FoldedStep(equal, 8).pieces().size(), 2 * 3 + 3U);
}

TEST(FoldedStep, OneRankOfEachDeviceWorksAndTheProbeIsRunOnOneMachine) {
    const PlannedStep step = step_of(plan());
    const FoldedStep folded(step, 8);
    const ExecutionGraph graph =
        folded.graph(std::vector<Time>(folded.pieces().size(), microseconds(7)));
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
            }
    }
    EXPECT_EQ(ranks_at_work(folded.probe()), 8U);
    check(graph);
    check(folded.probe());
}

TEST(FoldedStep, GroupsMustLieOnMachinesAlike) {
    ParallelPlan p = plan();
    p.tensor = 4;
    EXPECT_EQ(why_not_folded(step_of(p), 8), "");
    EXPECT_EQ(
        why_not_folded(step_of(p), 6), "its groups of 4 ranks lie differently on machines of 6");
}

}  // namespace
}  // namespace switchfold::folded_step_test
