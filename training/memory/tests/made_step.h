// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/step/memory_step.h"
#include "training/memory/step/step_alone.h"
#include "training/network/decoder.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

// Steps with planned memory, made and evaluated without a simulation.

namespace switchfold::made_step {

inline constexpr CopyRates kRates{12e9, 9e9};

inline const KernelTimes& a100() {
    static const KernelTimes times(test_data::ampere());
    return times;
}

inline Network small_gpt() {
    GptShape shape;
    shape.layers = 4;
    shape.hidden = 512;
    shape.heads = 8;
    shape.sequence = 256;
    shape.vocabulary = 4096;
    return decoder("small", shape);  // head and embedding share weights
}

struct Made {
    Made(const Network& network, const ParallelPlan& plan, MemoryChoice choice) :
        step(network, a100(), plan) {
        if (choice.bytes.count() == 0)
            choice.bytes = mebibytes(80 * 1024);
        memory = planned_memory(step, choice, problems);
        if (memory.plan.refusal.empty())
            graph = memory_step(step, memory);
    }
    TrainingStep step;
    PlanProblems problems;
    StepMemory memory;
    ExecutionGraph graph;
};

inline Schedule alone(const ExecutionGraph& graph, Time collective = Time()) {
    return step_alone(graph, kRates, collective);
}

inline std::uint64_t copied(const ExecutionGraph& graph, CopyKind kind) {
    std::uint64_t bytes = 0;
    for (const Operation& operation : graph.ranks[0]->operations)
        if (const auto* copy = std::get_if<CopyOperation>(&operation.body))
            if (copy->kind == kind)
                bytes += copy->bytes.count();
    return bytes;
}

inline std::uint64_t bytes_that_need_no_plan(const Network& network, ParallelPlan plan) {
    plan.accumulate = 1;
    MemoryChoice choice;
    choice.planner = OffloadPlanner::kNone;
    choice.updates = UpdatePolicy::kImmediate;
    return Made(network, plan, choice).memory.plan.floor_bytes();
}

inline MemoryChoice random_choice() {
    MemoryChoice choice;
    choice.planner = *rc::gen::element(
        OffloadPlanner::kOffloadAll, OffloadPlanner::kOptimal, OffloadPlanner::kFirstFit,
        OffloadPlanner::kFastest);
    choice.rates = kRates;
    if (choice.planner != OffloadPlanner::kFastest)
        choice.staging =
            *rc::gen::element(Staging::kSingle, Staging::kDoublePeak, Staging::kWindow);
    choice.weights_travel = *rc::gen::arbitrary<bool>();
    choice.granule = mebibytes(2);
    return choice;
}

/// Peak memory of a rank in the given classes. Memory that is freed at a moment is available to
/// what begins then. Fails if the step ends with more or less memory than it began with.
inline double
fullest(const ExecutionGraph& graph, const Schedule& times, const std::set<MemoryClass>& classes) {
    const RankGraph& rank = *graph.ranks[0];
    double all_along = 0;
    for (const MemoryClass what : classes)
        all_along += rank.held[what];
    std::map<std::uint64_t, std::int64_t> changes;
    for (const MemoryChange& change : rank.memory)
        if (classes.count(change.what) > 0) {
            const Schedule::Interval& at = times.operations[change.operation];
            changes[(change.at_end ? at.end : at.start).count()] += change.bytes;
        }
    std::int64_t live = 0;
    std::int64_t most = 0;
    for (const auto& [when, bytes] : changes)
        most = std::max(most, live += bytes);
    EXPECT_EQ(live, 0);
    return all_along + static_cast<double>(most);
}

inline const std::set<MemoryClass> kAll{MemoryClass::kWeights,   MemoryClass::kMoments,
                                        MemoryClass::kGradients, MemoryClass::kActivations,
                                        MemoryClass::kWorkspace, MemoryClass::kStaging,
                                        MemoryClass::kBuckets};

inline MemoryChoice all_stays(UpdatePolicy updates) {
    MemoryChoice choice;
    choice.planner = OffloadPlanner::kNone;
    choice.updates = updates;
    return choice;
}

inline double seconds_of_kernels(const ExecutionGraph& graph) {
    double seconds = 0;
    for (const Operation& operation : graph.ranks[0]->operations)
        if (const auto* kernel = std::get_if<KernelOperation>(&operation.body))
            seconds += to_seconds(kernel->isolated);
    return seconds;
}

}  // namespace switchfold::made_step
