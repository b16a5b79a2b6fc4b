// SPDX-License-Identifier: Apache-2.0
#include "training/memory/step/planned_devices.h"

#include "training/memory/tests/made_step.h"
#include "training/network/zoo/zoo.h"
#include "training/plan/step/plan_memory.h"

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace switchfold::planned_devices_test {
namespace {

using namespace made_step;

/// A step whose devices have planned memory each.
struct Planned {
    Planned(const Network& network, const ParallelPlan& plan, MemoryChoice choice) :
        step(network, a100(), plan) {
        if (choice.bytes.count() == 0)
            choice.bytes = mebibytes(80 * 1024);
        refusal = memory.add(step, choice);
        if (refusal.empty())
            graph = plan_step(step, &memory);
    }
    TrainingStep step;
    PlannedDevices memory;
    std::string refusal;
    ExecutionGraph graph;
};

ExecutionGraph of_rank(const ExecutionGraph& graph, std::size_t rank) {
    ExecutionGraph one = graph;
    one.ranks = {graph.ranks[rank]};
    return one;
}

ParallelPlan pipelined(const std::string& schedule, std::uint32_t stages = 2) {
    ParallelPlan plan;
    plan.pipeline = stages;
    plan.schedule = schedule;
    plan.accumulate = 2 * stages;
    plan.mini_batches = 6 * stages + 4;
    plan.chunks = schedule == "interleaved_1f1b" ? 2 : 1;
    return plan;
}

/// Plans whose devices have parts of their own. Gradients that replicas have not scattered yet are
/// as many as the network is slow, which no plan of memory knows.
ParallelPlan random_parts() {
    ParallelPlan plan = pipelined(
        *rc::gen::element<std::string>(
            "1f1b", "gpipe", "interleaved_1f1b", "zb_h1", "dualpipe_v", "1f1b_async"),
        *rc::gen::element(1U, 2U, 2U, 4U));
    if (plan.pipeline == 1) {
        plan.schedule = "1f1b";
        plan.chunks = 1;
    }
    plan.data = *rc::gen::element(1U, 2U);
    plan.context = *rc::gen::element(1U, 1U, 2U);
    plan.tensor = *rc::gen::element(1U, 1U, 2U);
    if (plan.data > 1)
        plan.sharding =
            *rc::gen::element(Sharding::kNone, Sharding::kOptimizer, Sharding::kParameters);
    if (plan.schedule != "zb_h1" && plan.schedule != "dualpipe_v")
        plan.recompute =
            *rc::gen::element(Recompute::kNone, Recompute::kSelective, Recompute::kFull);
    plan.micro_batch = *rc::gen::inRange(1U, 5U);
    return plan;
}

using Opened = std::vector<std::pair<std::string, std::set<std::pair<std::string, std::uint64_t>>>>;

Opened opened(const TensorUses& schedule) {
    Opened steps;
    for (const LayerUse& step : schedule.steps) {
        auto& [name, items] = steps.emplace_back();
        name = step.name;
        for (const ItemAccess& access : step.open)
            items.emplace(schedule.items[access.item].name, schedule.items[access.item].bytes);
    }
    return steps;
}

/// One device with all layers, whose micro-batches follow each other, is the whole network.
RC_GTEST_PROP(PlannedDevices, OneDeviceOpensWhatTheWholeNetworkDoes, ()) {
    ParallelPlan plan;
    plan.micro_batch = *rc::gen::inRange(1U, 5U);
    plan.accumulate = *rc::gen::inRange(1U, 4U);
    plan.recompute = *rc::gen::element(Recompute::kNone, Recompute::kSelective, Recompute::kFull);
    const Network network =
        *rc::gen::arbitrary<bool>()
            ? small_gpt()
            : *find_network(*rc::gen::element<std::string>("alexnet", "resnet18"));
    const TrainingStep step(network, a100(), plan);
    NetworkScheduleOptions options = schedule_options(network, plan);
    options.gradients_apart = true;
    options.weights_travel = *rc::gen::arbitrary<bool>();
    const TensorUses whole = network_schedule(network, options);
    options.passes = device_passes(step.schedule(), step.work(), 0);
    const TensorUses device = network_schedule(network, options);
    RC_ASSERT(opened(device) == opened(whole));
    RC_ASSERT(device.resident_bytes == whole.resident_bytes);
    RC_ASSERT(candidate_bytes(device) == candidate_bytes(whole));
}

/// A stage of 1F1B has as many micro-batches in flight as stages follow, itself included, and
/// buffers for so many.
TEST(PlannedDevices, BuffersAreMicroBatchesInFlight) {
    const TrainingStep step(small_gpt(), a100(), pipelined("1f1b", 4));
    for (std::uint32_t device = 0; device < 4; ++device) {
        std::set<std::uint32_t> buffers;
        for (const DevicePass& pass : device_passes(step.schedule(), step.work(), device))
            if (pass.kind != PassKind::kUpdate)
                buffers.insert(pass.buffer);
        EXPECT_EQ(buffers.size(), 4 - device);
    }
}

/// A buffer is of one micro-batch until its last gradients.
RC_GTEST_PROP(PlannedDevices, BuffersAreNotSharedInFlight, ()) {
    const TrainingStep step(
        small_gpt(), a100(),
        pipelined(*rc::gen::element<std::string>(
            "1f1b", "gpipe", "interleaved_1f1b", "zb_h1", "zb_h2", "1f1b_async")));
    for (std::uint32_t device = 0; device < step.schedule().devices(); ++device) {
        std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> holds;
        for (const DevicePass& pass : device_passes(step.schedule(), step.work(), device)) {
            if (pass.kind == PassKind::kUpdate)
                continue;
            const std::pair of{pass.first, pass.micro_batch};
            if (pass.kind == PassKind::kForward)
                holds[pass.buffer] = of;
            RC_ASSERT(holds.at(pass.buffer) == of);
        }
    }
}

/// Where nothing has to leave, forwards and backwards take what they take without planned memory.
RC_GTEST_PROP(PlannedDevices, WhatAllStaysTakesNoLonger, ()) {
    const ParallelPlan plan = random_parts();
    RC_PRE(problems_of(plan, small_gpt()).empty());
    RC_PRE(problems_of(all_stays(UpdatePolicy::kBatch), plan).empty());
    const Planned planned(small_gpt(), plan, all_stays(UpdatePolicy::kBatch));
    RC_ASSERT(planned.refusal.empty());
    check(planned.graph);
    const ExecutionGraph without = plan_step(planned.step);
    const auto until_updates = [](const ExecutionGraph& graph, std::size_t rank) {
        const Schedule times = alone(of_rank(graph, rank), microseconds(20));
        Time last;
        for (std::size_t i = 0; i < times.operations.size(); ++i)
            if (graph.ranks[rank]->operations[i].phase != Phase::kOptimizer)
                last = std::max(last, times.operations[i].end);
        return last;
    };
    for (std::size_t rank = 0; rank < without.ranks.size(); ++rank) {
        RC_ASSERT(copied(of_rank(planned.graph, rank), CopyKind::kHostToDevice) == 0U);
        if (!planned.step.schedule().asynchronous)  // updates lie between passes
            RC_ASSERT(until_updates(planned.graph, rank) == until_updates(without, rank));
    }
}

/// Memory stays within its limit on every rank, whole gradients aside (random_parts()), copies are
/// those of the plan, and the step ends with as much memory as it began with.
RC_GTEST_PROP(PlannedDevices, StayInTheirMemory, ()) {
    const ParallelPlan plan = random_parts();
    MemoryChoice choice = random_choice();
    choice.weights_travel = choice.weights_travel && plan.sharding != Sharding::kParameters;
    RC_PRE(problems_of(plan, small_gpt()).empty());
    RC_PRE(problems_of(choice, plan).empty());
    const Planned stays(small_gpt(), plan, all_stays(UpdatePolicy::kBatch));
    RC_ASSERT(stays.refusal.empty());
    std::uint64_t most = 0;
    for (const StepMemory& device : stays.memory.devices(stays.step))
        most = std::max(most, device.plan.floor_bytes());
    choice.bytes = Bytes(most * *rc::gen::inRange<std::uint64_t>(40, 120) / 100);
    const Planned planned(small_gpt(), plan, choice);
    RC_PRE(planned.refusal.empty());
    check(planned.graph);
    std::set<MemoryClass> counted = kAll;
    if (plan.sharding >= Sharding::kGradients)
        counted.erase(MemoryClass::kBuckets);
    const RankMap map(plan);
    for (std::uint32_t rank = 0; rank < planned.graph.ranks.size(); ++rank) {
        const ExecutionGraph one = of_rank(planned.graph, rank);
        const Schedule times = alone(one, microseconds(*rc::gen::inRange(1U, 20'000U)));
        RC_ASSERT(fullest(one, times, counted) <= static_cast<double>(choice.bytes.count()) + 0.5);
        const OffloadPlan& of_device =
            planned.memory.devices(planned.step)[map.place(rank).device].plan;
        RC_ASSERT(copied(one, CopyKind::kHostToDevice) == of_device.bytes_in);
        RC_ASSERT(copied(one, CopyKind::kDeviceToHost) == of_device.bytes_out);
    }
}

/// Every micro-batch copies out what its backward will read, which the accounting of activations
/// counts apart from the schedule of accesses, and one tensor of the residual stream that the
/// forward alone reads again.
TEST(PlannedDevices, EachMicroBatchCopiesItsActivations) {
    ParallelPlan plan = pipelined("1f1b", 2);
    plan.micro_batch = 4;
    MemoryChoice choice;
    choice.planner = OffloadPlanner::kOffloadAll;
    const Planned planned(small_gpt(), plan, choice);
    ASSERT_EQ(planned.refusal, "");
    double activations = 0;
    for (const MemoryItem& item : planned.memory.devices(planned.step)[0].schedule.items)
        if (item.kind == MemoryClass::kActivations)
            activations += static_cast<double>(item.bytes * item.offloads);
    const double kept = planned.step.work().kept(0).until_input_gradient * plan.accumulate;
    const double residual = 4.0 * 256 * 512 * 2 * plan.accumulate;  // samples, tokens, width, bytes
    EXPECT_GE(activations, kept);
    EXPECT_LE(activations, kept + residual);
}

/// What a GPU with a part of every layer has to itself is named, with the part that it lacks.
TEST(PlannedDevices, RefuseWhatNeedsWholeNetworks) {
    MemoryChoice choice = all_stays(UpdatePolicy::kBatch);
    choice.updater = Updater::kHost;
    ParallelPlan plan = pipelined("1f1b");
    const auto told = [&] {
        std::string all;
        for (const auto& [pointer, what] : problems_of(choice, plan))
            all += pointer + " " + what + "\n";
        return all;
    };
    EXPECT_EQ(
        told(), "/updater host is for GPUs that are alike and have a part of every layer, and the "
                "plan cuts "
                "the network; expected pipeline 1\n");
    choice.updater = Updater::kGpu;
    EXPECT_EQ(told(), "");
    plan.recompute = Recompute::kExact;
    EXPECT_EQ(
        told(), " chooses by recompute exact among all layers, and the plan cuts the network; "
                "expected pipeline 1\n");
    plan.recompute = Recompute::kFull;
    plan.schedule = "zb_h1";
    EXPECT_EQ(
        told(), " frees what a layer makes again with its backward, and the schedule's gradients "
                "of weights read it later; expected recompute none, or a schedule without passes "
                "of weight gradients\n");
}

TEST(PlannedDevices, SuggestTheMicroBatchThatFits) {
    ParallelPlan plan = pipelined("1f1b");
    plan.micro_batch = 16;
    MemoryChoice choice;
    choice.planner = OffloadPlanner::kNone;
    const Planned all(small_gpt(), plan, choice);
    std::uint64_t most = 0;
    for (const StepMemory& device : all.memory.devices(all.step))
        most = std::max(most, device.plan.floor_bytes());
    choice.bytes = Bytes(most - 1);
    const std::uint32_t largest = largest_micro_batch(all.step, choice);
    EXPECT_EQ(largest, 15U);
    plan.micro_batch = largest;
    EXPECT_EQ(Planned(small_gpt(), plan, choice).refusal, "");
    plan.micro_batch = largest + 1;
    EXPECT_NE(Planned(small_gpt(), plan, choice).refusal, "");
}

}  // namespace
}  // namespace switchfold::planned_devices_test
