// SPDX-License-Identifier: Apache-2.0
#include "training/memory/copies/copy_replay.h"
#include "training/memory/tests/made_step.h"
#include "training/network/zoo/zoo.h"
#include "training/plan/step/plan_memory.h"

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace switchfold::memory_step_test {
namespace {

using namespace made_step;

/// Any way to recompute, with attention fused or through memory.
void recompute_at_random(ParallelPlan& plan) {
    plan.recompute = *rc::gen::element(
        Recompute::kNone, Recompute::kSelective, Recompute::kFull, Recompute::kExact);
    if (plan.recompute == Recompute::kFull)
        plan.recompute_every = *rc::gen::inRange(1U, 4U);
    plan.attention = *rc::gen::element(AttentionKernels::kFused, AttentionKernels::kUnfused);
}

/// The planners' times, computed without simulation, equal those of the step without contention.
RC_GTEST_PROP(MemoryStep, TakesWhatTheRecursionOfCopiesSays, ()) {
    ParallelPlan plan;
    plan.micro_batch = *rc::gen::inRange(1U, 9U);
    recompute_at_random(plan);
    const Network network =
        *rc::gen::arbitrary<bool>()
            ? small_gpt()
            : *find_network(*rc::gen::element<std::string>("alexnet", "resnet18"));
    MemoryChoice choice = random_choice();
    choice.updates = *rc::gen::element(UpdatePolicy::kBatch, UpdatePolicy::kImmediate);
    if (choice.updates == UpdatePolicy::kBatch)
        plan.accumulate = *rc::gen::inRange(1U, 4U);
    choice.bytes = Bytes(
        bytes_that_need_no_plan(network, plan) * *rc::gen::inRange<std::uint64_t>(20, 110) / 100);
    const Made made(network, plan, choice);
    RC_ASSERT(made.problems.empty());
    RC_PRE(made.memory.plan.refusal.empty());
    check(made.graph);
    RC_ASSERT(copied(made.graph, CopyKind::kHostToDevice) == made.memory.plan.bytes_in);
    RC_ASSERT(copied(made.graph, CopyKind::kDeviceToHost) == made.memory.plan.bytes_out);
    const CopyReplay replay =
        replay_copies(made.memory.schedule, made.memory.plan, choice.bytes.count(), kRates);
    // The graph rounds kernels and copies to whole picoseconds, hence the tolerance.
    RC_ASSERT(std::abs(to_seconds(alone(made.graph).makespan) - replay.seconds) < 1e-8);
}

/// For any planner, policy and number of ranks: memory stays within its limit, the step ends, and
/// it is no shorter than its kernels or than its copies in one direction.
RC_GTEST_PROP(MemoryStep, StaysInItsMemory, ()) {
    ParallelPlan plan;
    plan.micro_batch = *rc::gen::inRange(1U, 9U);
    plan.data = *rc::gen::element(1U, 4U);
    plan.tensor = *rc::gen::element(1U, 1U, 2U);
    plan.context = *rc::gen::element(1U, 1U, 2U);
    plan.bucket = mebibytes(*rc::gen::inRange(1U, 64U));
    recompute_at_random(plan);
    plan.sequence = plan.tensor > 1 && *rc::gen::arbitrary<bool>();
    const Network network =
        plan.tensor * plan.context > 1 || *rc::gen::arbitrary<bool>()
            ? small_gpt()
            : *find_network(*rc::gen::element<std::string>("alexnet", "resnet18"));
    MemoryChoice choice = random_choice();
    choice.updates = *rc::gen::element(
        UpdatePolicy::kBatch, UpdatePolicy::kImmediate, UpdatePolicy::kOverlapped,
        UpdatePolicy::kDelayed);
    if (plan.context == 1)
        choice.updater = *rc::gen::element(Updater::kGpu, Updater::kGpu, Updater::kHost);
    if (choice.updates == UpdatePolicy::kBatch)
        plan.accumulate = *rc::gen::inRange(1U, 4U);
    if (choice.updater == Updater::kGpu && plan.data > 1)
        plan.sharding = choice.updates == UpdatePolicy::kBatch
                            ? *rc::gen::element(Sharding::kNone, Sharding::kOptimizer)
                            : *rc::gen::element(
                                  Sharding::kNone, Sharding::kOptimizer, Sharding::kGradients,
                                  Sharding::kParameters);
    choice.weights_travel = choice.weights_travel && choice.updater == Updater::kGpu &&
                            plan.sharding != Sharding::kParameters;
    choice.bytes = Bytes(
        bytes_that_need_no_plan(network, plan) * *rc::gen::inRange<std::uint64_t>(40, 130) / 100);
    const Made made(network, plan, choice);
    RC_ASSERT(made.problems.empty());
    RC_PRE(made.memory.plan.refusal.empty());
    check(made.graph);
    const Schedule times = alone(made.graph, microseconds(*rc::gen::inRange(1U, 20'000U)));
    RC_ASSERT(fullest(made.graph, times, kAll) <= static_cast<double>(choice.bytes.count()) + 0.5);
    double kernels = 0;
    for (const Operation& operation : made.graph.ranks[0]->operations)
        if (const auto* kernel = std::get_if<KernelOperation>(&operation.body))
            if (operation.phase != Phase::kOptimizer)
                kernels += to_seconds(kernel->isolated);
    const double seconds = to_seconds(times.makespan) + 1e-9;
    RC_ASSERT(seconds >= kernels);
    RC_ASSERT(
        seconds * kRates.in >= static_cast<double>(copied(made.graph, CopyKind::kHostToDevice)));
    RC_ASSERT(
        seconds * kRates.out >= static_cast<double>(copied(made.graph, CopyKind::kDeviceToHost)));
}

/// Share of gradient memory that the policy saves at the peak, in percent of all gradients.
double saved(const Network& network, UpdatePolicy updates) {
    ParallelPlan plan;
    plan.datatype = Datatype::kFloat32;
    const Made made(network, plan, all_stays(updates));
    const double live = fullest(made.graph, alone(made.graph), {MemoryClass::kGradients});
    return 100 * (1 - live / static_cast<double>(sum_of_bytes(made.memory.groups)));
}

/// Source: reference/training/memory.md, section 2, one buffer.
TEST(MemoryStep, OneBufferOfGradientsSavesWhatIsNotTheLargestLayer) {
    for (const auto& [name, percent] : std::map<std::string, double>{
             {"alexnet", 38.2},
             {"vgg16", 25.7},
             {"resnet50", 90.8},
             {"gpt2_small", 67.1},
             {"bert_large", 90.7}}) {
        const Network network = *find_network(name);
        EXPECT_NEAR(saved(network, UpdatePolicy::kDelayed), percent, 0.1) << name;
        EXPECT_NEAR(saved(network, UpdatePolicy::kImmediate), percent, 0.1) << name;
        EXPECT_DOUBLE_EQ(saved(network, UpdatePolicy::kBatch), 0) << name;
    }
}

/// The delayed update overlaps with input gradients. It needs one buffer and no shadow weights.
TEST(MemoryStep, DelayedIsNeverSlowerThanBatch) {
    for (const char* name : {"alexnet", "vgg16", "resnet50", "gpt2_small"}) {
        ParallelPlan plan;
        plan.micro_batch = 4;
        const auto takes = [&](UpdatePolicy updates) {
            const Made made(*find_network(name), plan, all_stays(updates));
            return alone(made.graph).makespan;
        };
        EXPECT_LE(takes(UpdatePolicy::kDelayed), takes(UpdatePolicy::kBatch)) << name;
        EXPECT_EQ(takes(UpdatePolicy::kImmediate), takes(UpdatePolicy::kBatch)) << name;
    }
}

/// Ren et al., ZeRO-Offload: gradients go to the host, weights come back, and the moments are never
/// on the GPU.
TEST(MemoryStep, AHostThatUpdatesMovesEveryParameterTwice) {
    ParallelPlan plan;
    plan.gradient = Datatype::kBfloat16;
    plan.data = 4;
    MemoryChoice choice = all_stays(UpdatePolicy::kBatch);
    choice.updater = Updater::kHost;
    const Network network = small_gpt();
    const Made made(network, plan, choice);
    std::uint64_t parameters = 0;
    for (const Layer& layer : network.layers)
        parameters += layer.parameters;
    const auto part = static_cast<double>(parameters) / plan.data;
    EXPECT_NEAR(static_cast<double>(copied(made.graph, CopyKind::kDeviceToHost)), 2 * part, 100);
    EXPECT_NEAR(static_cast<double>(copied(made.graph, CopyKind::kHostToDevice)), 2 * part, 100);
    EXPECT_EQ(made.graph.ranks[0]->held[MemoryClass::kMoments], 0);
    const Schedule times = alone(made.graph);
    double host = 0;
    for (const Operation& operation : made.graph.ranks[0]->operations)
        if (const auto* delay = std::get_if<HostDelayOperation>(&operation.body))
            host += to_seconds(delay->duration);
    EXPECT_NEAR(host, part / choice.host_rate, 1e-9);
    choice.ranks_a_host = 4;  // share its cores
    const Made sharing(network, plan, choice);
    double shared = 0;
    for (const Operation& operation : sharing.graph.ranks[0]->operations)
        if (const auto* delay = std::get_if<HostDelayOperation>(&operation.body))
            shared += to_seconds(delay->duration);
    EXPECT_NEAR(shared, 4 * host, 1e-9);
    EXPECT_GT(to_seconds(times.makespan), host);
}

/// Fewest bytes are not fewest stalls: with the same planner, updates within the backward pass may
/// be slower, although they leave more memory. Of plans with rings of several sizes they are not.
TEST(MemoryStep, TheFastestPlansUpdateWithinBackwardAtNoCost) {
    for (const auto& [name, percents] : std::map<std::string, std::vector<std::uint64_t>>{
             {"vgg16", {80, 85, 95}}, {"alexnet", {105, 120}}, {"resnet50", {50, 70}}}) {
        ParallelPlan plan;
        plan.micro_batch = 32;
        const Network network = *find_network(name);
        const std::uint64_t all = bytes_that_need_no_plan(network, plan);
        for (const std::uint64_t percent : percents) {
            const auto takes = [&](OffloadPlanner planner, UpdatePolicy updates) {
                MemoryChoice choice;
                choice.planner = planner;
                choice.updates = updates;
                choice.granule = mebibytes(1);
                choice.rates = kRates;
                choice.bytes = Bytes(all * percent / 100);
                const Made made(network, plan, choice);
                EXPECT_EQ(made.memory.plan.refusal, "") << name << percent;
                return made.memory.plan.refusal.empty() ? to_seconds(alone(made.graph).makespan)
                                                        : 0.0;
            };
            const double batch = takes(OffloadPlanner::kFastest, UpdatePolicy::kBatch);
            EXPECT_LE(batch, takes(OffloadPlanner::kOptimal, UpdatePolicy::kBatch) + 1e-9) << name;
            EXPECT_LE(takes(OffloadPlanner::kFastest, UpdatePolicy::kDelayed), batch + 1e-9)
                << name << ", " << percent << " %";
        }
    }
}

/// With all of VGG-16's activations and moments on the host, each weight gradient waits in one
/// buffer for an update, which waits for its moments: they come in the midst of the backward pass.
TEST(MemoryStep, WhereMomentsTravelUpdatesWithinBackwardMayBeSlower) {
    const Network network = *find_network("vgg16");
    ParallelPlan plan;
    plan.micro_batch = 64;
    plan.datatype = Datatype::kFloat32;
    plan.optimizer = OptimizerKind::kMomentum;
    MemoryChoice choice;
    choice.planner = OffloadPlanner::kOffloadAll;
    choice.updates = UpdatePolicy::kDelayed;
    choice.rates = {25e9, 25e9};
    choice.bytes = Bytes(bytes_that_need_no_plan(network, plan) * 7 / 10);
    const Made delayed(network, plan, choice);
    const auto compared = compare_with_batch(delayed.step, delayed.memory);
    ASSERT_TRUE(compared.has_value());
    EXPECT_EQ(compared->planned, step_alone(delayed.graph, choice.rates).makespan);
    choice.updates = UpdatePolicy::kBatch;
    const Made batch(network, plan, choice);
    EXPECT_EQ(compared->batch, step_alone(batch.graph, choice.rates).makespan);
    EXPECT_EQ(batch.memory.plan.moved_bytes(), delayed.memory.plan.moved_bytes());
    EXPECT_GT(compared->planned, compared->batch);
    EXPECT_FALSE(compare_with_batch(batch.step, batch.memory).has_value());
    const Made stays(network, plan, all_stays(UpdatePolicy::kDelayed));
    EXPECT_FALSE(compare_with_batch(stays.step, stays.memory).has_value());
}

TEST(MemoryStep, MicroBatchesAddUpInTheMemoryOfOne) {
    const Network network = small_gpt();
    ParallelPlan plan;
    plan.data = 2;
    plan.micro_batch = 4;
    const Made one(network, plan, all_stays(UpdatePolicy::kBatch));
    plan.accumulate = 3;
    const Made three(network, plan, all_stays(UpdatePolicy::kBatch));
    EXPECT_EQ(three.memory.plan.retained_bytes, one.memory.plan.retained_bytes);
    EXPECT_EQ(three.memory.plan.moved_bytes(), 0U);
    const auto count = [](const Made& made, auto which) {
        const auto& operations = made.graph.ranks[0]->operations;
        return std::count_if(operations.begin(), operations.end(), which);
    };
    const auto reduces = [](const Operation& operation) {
        return std::holds_alternative<CollectiveOperation>(operation.body);
    };
    const auto updates = [](const Operation& operation) {
        return operation.phase == Phase::kOptimizer;
    };
    const auto forwards = [](const Operation& operation) {
        return operation.phase == Phase::kForward;
    };
    EXPECT_EQ(count(three, reduces), count(one, reduces));
    EXPECT_EQ(count(three, updates), count(one, updates));
    EXPECT_EQ(count(three, forwards), 3 * count(one, forwards));
    // A later micro-batch needs nothing of what an earlier one left.
    MemoryChoice all_travels;
    all_travels.planner = OffloadPlanner::kOffloadAll;
    const Made thrice(network, plan, all_travels);
    plan.accumulate = 1;
    const Made once(network, plan, all_travels);
    const auto activations = [](const Made& made) {
        std::uint64_t bytes = 0;
        for (const MemoryItem& item : made.memory.schedule.items)
            if (item.kind == MemoryClass::kActivations)
                bytes += item.bytes * item.copies();
        return bytes;
    };
    EXPECT_EQ(activations(thrice), 3 * activations(once));
}

/// Rajbhandari et al., ZeRO 1: each rank has a part of the moments, and updates that of the
/// weights.
TEST(MemoryStep, RanksThatShareMomentsScatterGradientsAndGatherWeights) {
    const Network network = small_gpt();
    ParallelPlan plan;
    plan.data = 4;
    const Made whole(network, plan, all_stays(UpdatePolicy::kBatch));
    plan.sharding = Sharding::kOptimizer;
    const Made part(network, plan, all_stays(UpdatePolicy::kBatch));
    EXPECT_NEAR(
        part.graph.ranks[0]->held[MemoryClass::kMoments],
        whole.graph.ranks[0]->held[MemoryClass::kMoments] / 4,
        static_cast<double>(network.layers.size()));
    std::uint64_t scattered = 0;
    std::uint64_t gathered = 0;
    for (const Operation& operation : part.graph.ranks[0]->operations)
        if (const auto* collective = std::get_if<CollectiveOperation>(&operation.body)) {
            EXPECT_NE(collective->kind, CollectiveKind::kAllReduce);
            (collective->kind == CollectiveKind::kReduceScatter ? scattered : gathered) +=
                collective->bytes.count();
        }
    std::uint64_t parameters = 0;
    for (const Layer& layer : network.layers)
        parameters += layer.parameters;
    EXPECT_EQ(scattered, parameters * part.memory.facts.options.gradient);
    EXPECT_EQ(gathered, parameters * part.memory.facts.options.element);
    EXPECT_LT(seconds_of_kernels(part.graph), seconds_of_kernels(whole.graph));
}

/// Tensor-parallel ranks have their parts of weights, gradients, moments and activations: as much
/// as the estimate of plans says, which counts by other code.
TEST(MemoryStep, TensorParallelRanksPlanTheirParts) {
    const Network network = small_gpt();
    for (const bool sequence : {false, true}) {
        ParallelPlan plan;
        plan.micro_batch = 8;
        plan.tensor = 4;
        plan.sequence = sequence;
        plan.attention = AttentionKernels::kUnfused;
        const Made made(network, plan, all_stays(UpdatePolicy::kBatch));
        ASSERT_TRUE(made.problems.empty());
        check(made.graph);
        ASSERT_EQ(made.graph.ranks.size(), 4U);
        const MemoryBytes estimate = plan_memory(made.step).front();
        const RankGraph& rank = *made.graph.ranks[0];
        const auto held = [&](MemoryClass what) { return rank.held[what]; };
        EXPECT_NEAR(
            held(MemoryClass::kWeights), estimate[MemoryClass::kWeights],
            1e-3 * estimate[MemoryClass::kWeights]);
        EXPECT_NEAR(
            held(MemoryClass::kMoments), estimate[MemoryClass::kMoments],
            1e-3 * estimate[MemoryClass::kMoments]);
        EXPECT_NEAR(
            static_cast<double>(made.memory.gradients), estimate[MemoryClass::kGradients],
            1e-3 * estimate[MemoryClass::kGradients]);
        plan.tensor = 1;
        plan.sequence = false;
        const Made whole(network, plan, all_stays(UpdatePolicy::kBatch));
        // With sequence parallelism nearly everything is divided by four, otherwise the inputs of
        // products are not.
        const std::uint64_t floor = made.memory.plan.floor_bytes();
        EXPECT_LT(floor * 10, whole.memory.plan.floor_bytes() * (sequence ? 3 : 6));
    }
}

TEST(MemoryStep, RefusesUpdatesThatPlansWithPartsCannotHave) {
    ParallelPlan plan;
    plan.context = 2;
    plan.accumulate = 4;
    plan.overlap_gradients = false;
    MemoryChoice choice = all_stays(UpdatePolicy::kDelayed);
    choice.updater = Updater::kHost;
    choice.weights_travel = true;
    std::string all;
    for (const auto& [pointer, what] : problems_of(choice, plan))
        all += pointer + " " + what + "\n";
    ParallelPlan shared;
    shared.sharding = Sharding::kOptimizer;
    MemoryChoice on_host = all_stays(UpdatePolicy::kBatch);
    on_host.updater = Updater::kHost;
    EXPECT_EQ(problems_of(on_host, shared).front().first, "/updater");
    EXPECT_EQ(
        all,
        "/updater host is for GPUs that are alike and have a part of every layer, and the plan "
        "shares samples; expected context 1\n"
        "/updates is delayed, and gradients of several micro-batches add up before the update; "
        "expected batch\n"
        "/updates is delayed, which needs gradients that travel beside the backward pass; expected "
        "overlap_gradients true, or batch\n"
        "/weights_travel is true, and the host's updates come to the GPU; expected false with a "
        "host updater\n");
}

TEST(MemoryStep, WhatLooksAtAllGradientsIsForBatchAlone) {
    const ParallelPlan plan;
    MemoryChoice choice = all_stays(UpdatePolicy::kImmediate);
    choice.clip_by_global_norm = true;
    ASSERT_EQ(problems_of(choice, plan).size(), 1U);
    EXPECT_EQ(
        problems_of(choice, plan).front().second,
        "is immediate, and the norm that clips is of all gradients; expected batch");
    choice.updates = UpdatePolicy::kBatch;
    EXPECT_TRUE(problems_of(choice, plan).empty());
    const auto takes = [&] { return alone(Made(small_gpt(), plan, choice).graph).makespan; };
    const Time clipped = takes();
    choice.clip_by_global_norm = false;
    EXPECT_GT(clipped, takes());
}

TEST(MemoryStep, KnowsTheLargestMicroBatchThatFits) {
    ParallelPlan plan;
    plan.micro_batch = 64;
    MemoryChoice choice;
    choice.planner = OffloadPlanner::kNone;
    choice.bytes = mebibytes(4096);
    const Network network = *find_network("vgg16");
    const Made made(network, plan, choice);
    ASSERT_FALSE(made.memory.plan.refusal.empty());
    const std::uint32_t largest = largest_micro_batch(made.step, made.memory);
    ASSERT_GT(largest, 0U);
    plan.micro_batch = largest;
    EXPECT_TRUE(Made(network, plan, choice).memory.plan.refusal.empty());
    plan.micro_batch = largest + 1;
    EXPECT_FALSE(Made(network, plan, choice).memory.plan.refusal.empty());
}

}  // namespace
}  // namespace switchfold::memory_step_test
