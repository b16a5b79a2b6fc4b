// SPDX-License-Identifier: Apache-2.0
#include "workloads/memory/step/memory_step.h"

#include "workloads/graph/schedule.h"
#include "workloads/memory/copies/copy_replay.h"
#include "workloads/network/decoder.h"
#include "workloads/network/zoo/zoo.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace switchfold {
namespace {

constexpr CopyRates kRates{12e9, 9e9};

const KernelTimes& a100() {
    static const KernelTimes times(testing::ampere());
    return times;
}

Network small_gpt() {
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
    PlannedStep step;
    PlanProblems problems;
    PlannedMemory memory;
    ExecutionGraph graph;
};

/// Without contention: kernels in their own time, copies at a rate each way; collectives as given.
Schedule alone(const ExecutionGraph& graph, Time collective = Time()) {
    return evaluate(*graph.ranks[0], [&](std::uint32_t, const Operation& operation) {
        if (const auto* kernel = std::get_if<KernelOperation>(&operation.body))
            return kernel->isolated;
        if (const auto* copy = std::get_if<CopyOperation>(&operation.body)) {
            const double rate = copy->kind == CopyKind::kHostToDevice ? kRates.in : kRates.out;
            return Time(static_cast<std::uint64_t>(
                static_cast<double>(copy->bytes.count()) / rate * 1e12));
        }
        if (const auto* delay = std::get_if<HostDelayOperation>(&operation.body))
            return delay->duration;
        return collective;
    });
}

std::uint64_t copied(const ExecutionGraph& graph, CopyKind kind) {
    std::uint64_t bytes = 0;
    for (const Operation& operation : graph.ranks[0]->operations)
        if (const auto* copy = std::get_if<CopyOperation>(&operation.body))
            if (copy->kind == kind)
                bytes += copy->bytes.count();
    return bytes;
}

std::uint64_t bytes_that_need_no_plan(const Network& network, const ParallelPlan& plan) {
    MemoryChoice choice;
    choice.planner = PinPlanner::kNone;
    choice.updates = UpdatePolicy::kImmediate;
    return Made(network, plan, choice).memory.plan.floor_bytes();
}

MemoryChoice random_choice() {
    MemoryChoice choice;
    choice.planner =
        *rc::gen::element(PinPlanner::kOffloadAll, PinPlanner::kOptimal, PinPlanner::kFirstFit);
    choice.staging = *rc::gen::element(Staging::kSingle, Staging::kDoublePeak, Staging::kWindow);
    choice.weights_travel = *rc::gen::arbitrary<bool>();
    return choice;
}

/// What planners promise without simulating is what the step does where nothing contends.
RC_GTEST_PROP(MemoryStep, TakesWhatTheRecursionOfCopiesSays, ()) {
    ParallelPlan plan;
    plan.micro_batch = *rc::gen::inRange(1U, 9U);
    const Network network =
        *rc::gen::arbitrary<bool>()
            ? small_gpt()
            : zoo_network(*rc::gen::element<std::string>("alexnet", "resnet18", "unet_128"));
    MemoryChoice choice = random_choice();
    choice.updates = *rc::gen::element(UpdatePolicy::kBatch, UpdatePolicy::kImmediate);
    choice.bytes = Bytes(
        bytes_that_need_no_plan(network, plan) * *rc::gen::inRange<std::uint64_t>(20, 110) / 100);
    const Made made(network, plan, choice);
    RC_ASSERT(made.problems.empty());
    RC_PRE(made.memory.plan.refusal.empty());
    check(made.graph);
    RC_ASSERT(copied(made.graph, CopyKind::kHostToDevice) == made.memory.plan.bytes_in);
    RC_ASSERT(copied(made.graph, CopyKind::kDeviceToHost) == made.memory.plan.bytes_out);
    const CopyReplay replay = replay_copies(
        made.memory.schedule, made.memory.plan, choice.bytes.count(), kRates);
    // Kernels and copies are whole picoseconds.
    RC_ASSERT(std::abs(to_seconds(alone(made.graph).makespan) - replay.seconds) < 1e-8);
}

/// Bytes of gradients of weights at their fullest: a group's from its first weight gradient on
/// until its last update, or its copy to the host, has ended.
std::uint64_t live_gradients(const Made& made, const Schedule& times) {
    const ExecutionGraph& graph = made.graph;
    const BigVector<Operation>& operations = graph.ranks[0]->operations;
    std::map<std::uint32_t, std::pair<Time, Time>> by_layer;
    (void)operations;
    (void)times;
    return 0;
}

}  // namespace
}  // namespace switchfold
