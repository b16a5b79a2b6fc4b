// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/without_overlap.h"

#include "workloads/graph/schedule.h"
#include "workloads/graph/serial_order.h"
#include "workloads/graph/unpaced.h"
#include "workloads/tests/random_graph.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace switchfold::without_overlap_test {
namespace {

Schedule measured(const RankGraph& rank) {
    return evaluate(rank, [](std::uint32_t, const Operation& operation) {
        return measured_duration(operation);
    });
}

/// Whether a collective runs at the same time as another GPU operation. Gaps count as waiting, not
/// as running.
bool overlaps(const RankGraph& rank, const Schedule& schedule) {
    for (std::size_t i = 0; i < rank.operations.size(); ++i) {
        if (!is_collective(rank.operations[i]))
            continue;
        for (std::size_t j = 0; j < rank.operations.size(); ++j)
            if (j != i && rank.streams[rank.operations[j].stream].kind == StreamKind::kGpu &&
                schedule.operations[j].start < schedule.operations[i].end &&
                schedule.operations[i].start < schedule.operations[j].end)
                return true;
    }
    return false;
}

Operation
operation_on(std::uint32_t stream, std::vector<std::uint32_t> dependencies, OperationBody body) {
    Operation operation;
    operation.stream = stream;
    operation.dependencies = std::move(dependencies);
    operation.body = std::move(body);
    return operation;
}

/// Operation names in serial order. The tests name operations by their index.
std::vector<std::uint32_t> order_of(const ExecutionGraph& graph) {
    std::vector<std::uint32_t> order;
    for (const Operation& operation : graph.ranks[0]->operations)
        order.push_back(operation.name);
    return order;
}

ExecutionGraph named(const std::vector<Operation>& operations) {
    RankGraph rank;
    rank.streams = {{StreamKind::kGpu, "7", 0}, {StreamKind::kGpu, "20", 0}};
    rank.operations = {operations.begin(), operations.end()};
    for (std::uint32_t i = 0; i < rank.operations.size(); ++i)
        rank.operations[i].name = i;
    return test_data::graph_of(std::move(rank));
}

TEST(WithoutOverlap, AMessageThatNothingMatchesKeepsItsPlace) {
    CollectiveOperation held;
    held.kind = CollectiveKind::kSendReceive;
    held.holds_blocks = true;
    held.given = microseconds(5);
    const ExecutionGraph graph = named(
        {operation_on(1, {}, held), operation_on(0, {}, KernelOperation{}),
         operation_on(0, {}, KernelOperation{})});
    EXPECT_EQ(order_of(without_overlap(graph)), (std::vector<std::uint32_t>{0, 1, 2}))
        << "a collective would have come last";
}

TEST(WithoutOverlap, BackwardFirstThenItsBucketsThenTheOptimizer) {
    const ExecutionGraph graph = named(
        {operation_on(0, {}, KernelOperation{}),        // gradient of bucket 0
         operation_on(1, {0}, CollectiveOperation{}),   // bucket 0
         operation_on(0, {}, KernelOperation{}),        // gradient of bucket 1
         operation_on(1, {2}, CollectiveOperation{}),   // bucket 1
         operation_on(0, {1, 3}, KernelOperation{})});  // optimizer
    const ExecutionGraph serial = without_overlap(graph);
    check(serial);
    EXPECT_EQ(order_of(serial), (std::vector<std::uint32_t>{0, 2, 1, 3, 4}));
}

TEST(WithoutOverlap, PassesAndMemoryMoveWithTheirOperations) {
    ExecutionGraph graph = named(
        {operation_on(0, {}, KernelOperation{}), operation_on(1, {0}, CollectiveOperation{}),
         operation_on(0, {}, KernelOperation{})});  // moves before the collective
    auto rank = std::make_shared<RankGraph>(*graph.ranks[0]);
    rank->spans = {{0, 1, 2, 0, Phase::kBackward}};
    rank->held[MemoryClass::kWeights] = 7;
    rank->memory = {{1, false, MemoryClass::kBuckets, 5}, {2, true, MemoryClass::kActivations, -3}};
    graph.ranks[0] = rank;
    const ExecutionGraph serial = without_overlap(graph);
    check(serial);
    const RankGraph& after = *serial.ranks[0];
    EXPECT_EQ(after.spans, (std::vector<Span>{{0, 2, 1, 0, Phase::kBackward}}));
    EXPECT_EQ(after.held, rank->held);
    const std::vector<MemoryChange> moved{
        {2, false, MemoryClass::kBuckets, 5}, {1, true, MemoryClass::kActivations, -3}};
    EXPECT_EQ(after.memory, moved);
}

TEST(WithoutOverlap, TheNextStepWaitsForThisStepsCollectives) {
    std::vector<Operation> operations{
        operation_on(0, {}, KernelOperation{}), operation_on(1, {0}, CollectiveOperation{}),
        operation_on(0, {}, KernelOperation{})};
    operations[2].step = 1;  // it has no dependency on the collective
    EXPECT_EQ(order_of(without_overlap(named(operations))), (std::vector<std::uint32_t>{0, 1, 2}));
}

/// Two ranks of one program, of which only the second shows that its last kernel waits for the
/// collective. `first`: what the first rank's last kernel waits for; `name`: its name.
ExecutionGraph two_ranks(std::vector<std::uint32_t> first, std::uint32_t name = 2) {
    ExecutionGraph graph = named(
        {operation_on(0, {}, KernelOperation{}), operation_on(1, {0}, CollectiveOperation{}),
         operation_on(0, {1}, KernelOperation{})});
    auto other = std::make_shared<RankGraph>(*graph.ranks[0]);
    other->operations[2].dependencies = Dependencies(first);
    other->operations[2].name = name;
    graph.groups = {{"world", {0, 1}}};
    graph.ranks = {other, graph.ranks[0]};
    graph.provenance.world_size = 2;
    while (graph.names.size() <= name)
        graph.names.emplace_back();
    return graph;
}

/// Otherwise the second rank comes late to the collective for work that it does behind it.
TEST(WithoutOverlap, APauseGoesByWhileItsOperationWaitsForOthers) {
    KernelOperation kernel;
    kernel.measured = microseconds(50);
    CollectiveOperation collective;
    collective.measured = microseconds(80);
    for (const auto& [gap, begins] : {std::pair{130, 180}, {40, 130}, {5, 135}}) {
        std::vector<Operation> operations{
            operation_on(0, {}, kernel), operation_on(1, {0}, collective),
            operation_on(0, {}, kernel)};
        operations[2].step = 1;  // it waits for the collective of the step before
        operations[2].gap = microseconds(gap);
        const ExecutionGraph serial = without_overlap(named(operations));
        check(serial);
        const Schedule schedule = measured(*serial.ranks[0]);
        EXPECT_EQ(schedule.operations.back().start, microseconds(begins)) << gap;
        EXPECT_FALSE(overlaps(*serial.ranks[0], schedule));
    }
}

TEST(WithoutOverlap, AHostWhoseLaunchesAreUnknownDoesNotPaceTheGpu) {
    KernelOperation kernel;
    kernel.measured = microseconds(50);
    CollectiveOperation collective;
    collective.measured = microseconds(100);
    const auto host = [](int us) { return HostDelayOperation{microseconds(us)}; };
    // As a trace without launching calls becomes a graph: all is launched just when it ran. The
    // second kernel waits for the collective.
    ExecutionGraph graph = named(
        {operation_on(2, {}, host(0)), operation_on(0, {0}, kernel), operation_on(2, {}, host(50)),
         operation_on(1, {2}, collective), operation_on(2, {}, host(100)),
         operation_on(0, {3, 4}, kernel), operation_on(2, {}, host(80)),
         operation_on(0, {6}, kernel)});
    auto rank = std::make_shared<RankGraph>(*graph.ranks[0]);
    rank->streams.push_back({StreamKind::kHost, "host", 0});
    graph.ranks[0] = rank;
    const auto last = [&] {
        const ExecutionGraph serial = without_overlap(graph);
        check(serial);
        const Schedule schedule =
            evaluate(*serial.ranks[0], [](std::uint32_t /*index*/, const Operation& operation) {
                return is_collective(operation) ? microseconds(10) : measured_duration(operation);
            });
        Time end;
        for (const Schedule::Interval& operation : schedule.operations)
            end = std::max(end, operation.end);
        return end;
    };
    EXPECT_EQ(last(), microseconds(280)) << "a generated step has its hosts' pace";
    graph.provenance.traced_ranks = 1;
    EXPECT_EQ(last(), microseconds(190)) << "50 + 10 + 50 + 30 in which no kernel ran + 50";
}

TEST(WithoutPace, WithOverlapEachOperationKeepsItsOwnPauseWhoeverWasFaster) {
    KernelOperation kernel;
    kernel.measured = microseconds(50);
    CollectiveOperation collective;
    collective.measured = microseconds(100);
    const auto host = [](int us) { return HostDelayOperation{microseconds(us)}; };
    // The second kernel began while the collective ran, for which it did not wait.
    ExecutionGraph graph = named(
        {operation_on(2, {}, host(0)), operation_on(0, {0}, kernel), operation_on(2, {}, host(50)),
         operation_on(1, {1, 2}, collective), operation_on(2, {}, host(20)),
         operation_on(0, {4}, kernel)});
    auto rank = std::make_shared<RankGraph>(*graph.ranks[0]);
    rank->streams.push_back({StreamKind::kHost, "host", 0});
    graph.ranks[0] = rank;
    graph.provenance.traced_ranks = 1;
    const ExecutionGraph unpaced = without_pace(graph, Pauses::kOfEach);
    const auto last_kernel = [&](Time first) {
        return evaluate(
                   *unpaced.ranks[0],
                   [&](std::uint32_t i, const Operation& operation) {
                       return i == 1 ? first : measured_duration(operation);
                   })
            .operations[5]
            .start;
    };
    EXPECT_EQ(last_kernel(microseconds(50)), microseconds(70)) << "as it ran";
    EXPECT_EQ(last_kernel(microseconds(10)), microseconds(30)) << "no host at 70";
}

TEST(WithoutOverlap, AStageWhoseLaunchesAreUnknownWaitsForItsMessagesAlone) {
    KernelOperation kernel;
    kernel.measured = microseconds(50);
    const auto host = [](int us) { return HostDelayOperation{microseconds(us)}; };
    // A stage that receives for 100 us, computes twice, and sends when that is done.
    ExecutionGraph graph = named(
        {operation_on(2, {}, host(0)), operation_on(1, {0}, ReceiveOperation{0, Bytes(64), 1}),
         operation_on(2, {}, host(100)), operation_on(0, {2}, kernel),
         operation_on(2, {}, host(50)), operation_on(0, {4}, kernel), operation_on(2, {}, host(50)),
         operation_on(1, {6}, SendOperation{0, Bytes(64), 2})});
    auto rank = std::make_shared<RankGraph>(*graph.ranks[0]);
    rank->streams.push_back({StreamKind::kHost, "host", 0});
    graph.ranks[0] = rank;
    graph.provenance.traced_ranks = 1;
    const ExecutionGraph serial = without_overlap(graph);
    check(serial);
    const RankGraph& order = *serial.ranks[0];
    const Schedule schedule = measured(order);
    for (std::size_t i = 0; i < order.operations.size(); ++i) {
        if (std::holds_alternative<SendOperation>(order.operations[i].body)) {
            EXPECT_EQ(schedule.operations[i].start, microseconds(100)) << "both kernels";
        }
        if (std::holds_alternative<KernelOperation>(order.operations[i].body) &&
            order.operations[i].name == 3) {
            EXPECT_EQ(schedule.operations[i].start, Time()) << "the message takes no time here";
            const auto& before = order.operations[i].dependencies;
            EXPECT_TRUE(std::any_of(before.begin(), before.end(), [&](std::uint32_t d) {
                return std::holds_alternative<ReceiveOperation>(order.operations[d].body);
            }));
        }
    }
}

TEST(WithoutOverlap, ACollectiveBesideWhichNothingRanStaysWhereItIs) {
    KernelOperation kernel;
    kernel.measured = microseconds(50);
    CollectiveOperation collective;
    collective.measured = microseconds(20);
    // Behind a slow host the second kernel begins long after the all-reduce has ended.
    const auto order = [&](int launched, std::uint32_t traced) {
        ExecutionGraph graph = named(
            {operation_on(2, {}, HostDelayOperation{microseconds(0)}), operation_on(0, {0}, kernel),
             operation_on(1, {1}, collective),
             operation_on(2, {}, HostDelayOperation{microseconds(launched)}),
             operation_on(0, {3}, kernel)});
        auto rank = std::make_shared<RankGraph>(*graph.ranks[0]);
        rank->streams.push_back({StreamKind::kHost, "host", 0});
        for (const std::uint32_t kernel_at : {1U, 4U})
            rank->operations[kernel_at].gap = microseconds(4);  // a launch on its way to the GPU
        graph.ranks[0] = rank;
        graph.provenance.traced_ranks = traced;
        std::vector<std::uint32_t> gpu;
        for (const std::uint32_t name : order_of(without_overlap(graph)))
            if (name != 0 && name != 3 && (gpu.empty() || gpu.back() != name))
                gpu.push_back(name);  // a pause has its operation's name
        return gpu;
    };
    EXPECT_EQ(order(100, 1), (std::vector<std::uint32_t>{1, 2, 4}));
    EXPECT_EQ(order(60, 1), (std::vector<std::uint32_t>{1, 4, 2})) << "they overlap for 10 us";
    EXPECT_EQ(order(100, 0), (std::vector<std::uint32_t>{1, 4, 2})) << "a plan says what waits";
}

TEST(WithoutOverlap, RanksOfOneProgramTakeOneOrder) {
    const ExecutionGraph serial = without_overlap(two_ranks({}));
    check(serial);
    EXPECT_EQ(order_of(serial), (std::vector<std::uint32_t>{0, 1, 2}));
    EXPECT_EQ(serial.ranks[0]->operations[2].dependencies, Dependencies({1}));
}

TEST(WithoutOverlap, RanksOfOtherProgramsKeepTheirOwn) {
    EXPECT_EQ(order_of(without_overlap(two_ranks({}, 5))), (std::vector<std::uint32_t>{0, 5, 1}));
}

TEST(WithoutOverlap, LeavesAGraphWithoutCollectivesAsItIs) {
    const ExecutionGraph graph =
        named({operation_on(0, {}, KernelOperation{}), operation_on(1, {0}, KernelOperation{})});
    const ExecutionGraph serial = without_overlap(graph);
    EXPECT_EQ(order_of(serial), (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(serial.ranks[0]->operations[1].dependencies, (std::vector<std::uint32_t>{0}));
}

TEST(WithoutOverlap, RanksThatShareAGraphStillDo) {
    ExecutionGraph graph = named({operation_on(0, {}, KernelOperation{})});
    graph.ranks.push_back(graph.ranks[0]);
    const ExecutionGraph serial = without_overlap(graph);
    EXPECT_EQ(serial.ranks[0], serial.ranks[1]);
}

RC_GTEST_PROP(WithoutOverlapProperty, KeepsEverythingAndOverlapsNothing, ()) {
    const ExecutionGraph graph = test_data::graph_of(test_data::random_rank());
    const RankGraph& before = *graph.ranks[0];
    const ExecutionGraph serial = without_overlap(graph);
    check(serial);
    const RankGraph& after = *serial.ranks[0];

    // Every operation occurs exactly once.
    std::vector<std::uint32_t> place(before.operations.size(), UINT32_MAX);
    RC_ASSERT(after.operations.size() == before.operations.size());
    for (std::uint32_t i = 0; i < after.operations.size(); ++i) {
        const Operation& operation = after.operations[i];
        const Operation& old = before.operations[operation.name];
        RC_ASSERT(place[operation.name] == UINT32_MAX);
        place[operation.name] = i;
        RC_ASSERT(operation.stream == old.stream);
        RC_ASSERT(operation.gap == old.gap);
        RC_ASSERT(operation.body.index() == old.body.index());
    }
    // The order is legal: it keeps each stream's order, and each operation follows its former
    // dependencies and still depends on them.
    for (std::uint32_t i = 0; i < before.operations.size(); ++i) {
        for (std::uint32_t j = 0; j < i; ++j)
            if (before.operations[j].stream == before.operations[i].stream)
                RC_ASSERT(place[j] < place[i]);
        const auto& dependencies = after.operations[place[i]].dependencies;
        for (const std::uint32_t d : before.operations[i].dependencies)
            RC_ASSERT(
                std::find(dependencies.begin(), dependencies.end(), place[d]) !=
                dependencies.end());
    }
    RC_ASSERT(!overlaps(after, measured(after)));
    // No overlap with other durations either.
    RC_ASSERT(!overlaps(after, evaluate(after, [](std::uint32_t i, const Operation&) {
                            return nanoseconds(1 + (i * 7919U) % 31U);
                        })));
}

RC_GTEST_PROP(WithoutOverlapProperty, CollectivesKeepTheirLaunchOrderSoThatRanksAgree, ()) {
    const ExecutionGraph serial = without_overlap(test_data::graph_of(test_data::random_rank()));
    std::uint64_t next = 0;
    for (const Operation& operation : serial.ranks[0]->operations)
        if (const auto* collective = std::get_if<CollectiveOperation>(&operation.body))
            RC_ASSERT(collective->sequence == next++);
}

}  // namespace
}  // namespace switchfold::without_overlap_test
