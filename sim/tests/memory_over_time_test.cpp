// SPDX-License-Identifier: Apache-2.0
#include "sim/results/memory_over_time.h"

#include "core/error.h"
#include "models/collectives/engine.h"
#include "training/network/decoder.h"
#include "training/plan/schedule/generators.h"
#include "training/plan/step/plan_memory.h"
#include "training/plan/tests/random_plan.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace switchfold::memory_over_time_test {
namespace {

constexpr auto kActivations = MemoryClass::kActivations;
constexpr auto kWorkspace = MemoryClass::kWorkspace;

/// A rank of four kernels, [0, 10), [10, 20), [20, 30) and [30, 40) us, in two passes.
class MemoryOverTime : public ::testing::Test {
protected:
    MemoryOverTime() {
        rank_.streams = {{StreamKind::kGpu, "7", 0}};
        for (std::uint64_t i = 0; i < 4; ++i) {
            rank_.operations.push_back({});
            times_.push_back({microseconds(10 * i), microseconds(10 * i + 10)});
        }
        rank_.spans = {{0, 0, 1, 0, Phase::kForward}, {1, 2, 3, 0, Phase::kBackward}};
        rank_.held[MemoryClass::kWeights] = 100.5;
        rank_.memory = {{0, false, kActivations, 40}, {2, false, kWorkspace, 30},
                        {2, true, kWorkspace, -30},   {3, false, kWorkspace, 20},
                        {3, true, kWorkspace, -20},   {3, true, kActivations, -40}};
    }

    /// Two ranks. The first allocates nothing during the step; the second is rank_.
    [[nodiscard]] ExecutionGraph graph() const {
        ExecutionGraph graph;
        graph.names = {"F0@0", "BW0@0"};
        RankGraph idle = rank_;
        idle.memory.clear();
        graph.ranks = {
            std::make_shared<const RankGraph>(idle), std::make_shared<const RankGraph>(rank_)};
        return graph;
    }
    [[nodiscard]] Outcome outcome() const {
        Outcome outcome;
        outcome.times = {times_, times_};
        return outcome;
    }
    [[nodiscard]] std::string problem() const {
        try {
            static_cast<void>(memory_over_time(graph(), outcome(), 1));
        } catch (const InternalError& error) {
            return error.what();
        }
        return "";
    }

    RankGraph rank_;
    std::vector<OperationTimes> times_;
};

TEST_F(MemoryOverTime, HasARowForEachMomentAtWhichItChanges) {
    EXPECT_TRUE(memory_over_time(graph(), outcome(), 0).empty());
    const std::vector<MemoryRow> rows = memory_over_time(graph(), outcome(), 1);
    std::vector<double> times;
    std::vector<double> all;
    for (const MemoryRow& row : rows) {
        EXPECT_EQ(row.rank, 1U);
        EXPECT_EQ(row.bytes[MemoryClass::kWeights], 100.5);
        times.push_back(row.time_us);
        all.push_back(row.bytes.all());
    }
    // The fourth kernel can use what the third frees.
    EXPECT_EQ(times, (std::vector<double>{0, 20, 30, 40}));
    EXPECT_EQ(all, (std::vector<double>{140.5, 170.5, 160.5, 100.5}));
    rank_.memory[3].bytes = 30;  // as much as the third frees: no change
    rank_.memory[4].bytes = -30;
    EXPECT_EQ(memory_over_time(graph(), outcome(), 1).size(), 3U);
}

TEST_F(MemoryOverTime, ThePeakIsWhereItIsFirst) {
    const auto peak = peak_memory(graph(), outcome());
    ASSERT_TRUE(peak);
    EXPECT_EQ(peak->rank, 1U);
    EXPECT_EQ(peak->time_us, 20);
    EXPECT_EQ(peak->pass, "BW0@0");
    EXPECT_EQ(peak->bytes[kActivations], 40);
    EXPECT_EQ(peak->bytes[kWorkspace], 30);
    rank_.memory.clear();
    EXPECT_FALSE(peak_memory(graph(), outcome()));
}

TEST_F(MemoryOverTime, NamesWhatIsLeftAndWhatWasNotThere) {
    EXPECT_EQ(problem(), "");
    rank_.memory.pop_back();
    EXPECT_NE(
        problem().find("rank 1 still holds 40 bytes of activations at the end"), std::string::npos)
        << problem();
    rank_.memory.push_back({1, true, kActivations, -40});
    rank_.memory.push_back({0, true, kWorkspace, -1});
    rank_.memory.push_back({3, false, kWorkspace, 1});
    EXPECT_NE(problem().find("rank 1 frees 1 bytes of workspace"), std::string::npos) << problem();
}

/// Random times that streams and dependencies allow. Waiting for other ranks is part of the
/// durations.
Outcome any_outcome(const ExecutionGraph& graph, std::uint64_t seed) {
    Outcome outcome;
    for (const auto& rank : graph.ranks) {
        std::vector<Time> free(rank->streams.size());
        std::vector<OperationTimes>& times = outcome.times.emplace_back();
        for (const Operation& operation : rank->operations) {
            Time start = free[operation.stream];
            for (const std::uint32_t dependency : operation.dependencies)
                start = std::max(start, times[dependency].end);
            seed = seed * 6364136223846793005U + 1442695040888963407U;
            times.push_back({start, start + nanoseconds(1 + (seed >> 33U) % 5000)});
            free[operation.stream] = times.back().end;
        }
    }
    return outcome;
}

ParallelPlan any_plan() {
    ParallelPlan plan = test_data::random_plan();
    plan.gradient_as_bucket_view = *rc::gen::arbitrary<bool>();
    plan.sharding = plan.data == 1 ? Sharding::kNone
                                   : *rc::gen::element(
                                         Sharding::kNone, Sharding::kOptimizer,
                                         Sharding::kGradients, Sharding::kParameters);
    return plan;
}

/// Memory allocated during the step is freed by its end. The peak is as planned before the run,
/// apart from buckets of unsharded gradients, and lower where two passes run beside each other.
RC_GTEST_PROP(MemoryOverTimeProperty, IsConservedAndPeaksWhereThePlanSays, ()) {
    GptShape shape;
    shape.layers = 8;
    shape.hidden = 64;
    shape.heads = 4;
    shape.sequence = 64;
    shape.vocabulary = 128;
    const Network network = decoder("small", shape);
    const KernelTimes times(test_data::ampere());
    ParallelPlan plan = any_plan();
    const auto seed = *rc::gen::arbitrary<std::uint32_t>();
    std::size_t made = 0;
    for (const ScheduleGenerator& generator : schedule_generators()) {
        plan.schedule = generator.name;
        plan.update_every = plan.schedule == "1f1b_double_buffered" ? plan.pipeline : 1;
        if (!problems_of(plan, network).empty())
            continue;
        ++made;
        const TrainingStep step(network, times, plan);
        const ExecutionGraph graph = plan_step(step);
        const Outcome outcome = any_outcome(graph, seed);
        const std::vector<MemoryBytes> planned = plan_memory(step);
        const RankMap map(plan);
        bool one_at_a_time = true;
        for (const std::vector<Slot>& order : step.schedule().order)
            for (const Slot& slot : order)
                one_at_a_time = one_at_a_time && !slot.beside;
        for (std::uint32_t rank = 0; rank < graph.ranks.size(); ++rank) {
            double most = 0;
            double travels = 0;
            for (const MemoryRow& row : memory_over_time(graph, outcome, rank)) {
                const double own = row.bytes[MemoryClass::kBuckets] -
                                   graph.ranks[rank]->held[MemoryClass::kBuckets];
                travels = std::max(travels, own);
                most = std::max(most, row.bytes.all() - own);
            }
            const double expected = planned[map.place(rank).device].all();
            RC_LOG() << plan.schedule << " rank " << rank << ": " << most << " of " << expected;
            constexpr double kRounding = 256;
            RC_ASSERT(most <= expected + kRounding);
            if (one_at_a_time)
                RC_ASSERT(most >= expected - kRounding);
            RC_ASSERT((travels > 0) == (plan.sharding >= Sharding::kGradients));
        }
    }
    RC_ASSERT(made > 0 || plan.sharding != Sharding::kNone);
}

}  // namespace
}  // namespace switchfold::memory_over_time_test
