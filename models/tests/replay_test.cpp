// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/kernel/simulation.h"
#include "models/replay/rank_replay.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace switchfold::replay_test {
namespace {

/// Every collective takes its `measured` time without other ranks; if `stuck`, it never ends.
struct FixedCollectives final : CollectiveService, EventHandler {
    explicit FixedCollectives(Scheduler& s) : scheduler(s) {}
    void start(
        std::uint32_t rank, std::uint32_t operation, const CollectiveOperation& collective,
        std::int32_t priority, CollectiveListener& listener) override {
        ranks.push_back(rank);
        priorities.push_back(priority);
        started.push_back({operation, &listener});
        if (!stuck)
            scheduler.after(collective.measured, *this, started.size() - 1);
    }
    void start_transfer(
        std::uint32_t, std::uint32_t operation, const TransferEnd& end, std::int32_t,
        CollectiveListener& listener) override {
        transfers.push_back(end);
        started.push_back({operation, &listener});
        scheduler.after(nanoseconds(end.bytes.count()), *this, started.size() - 1);
    }
    void on_event(std::uint64_t tag) override {
        started[tag].second->on_collective_end(started[tag].first);
    }
    Scheduler& scheduler;
    std::vector<std::pair<std::uint32_t, CollectiveListener*>> started;
    std::vector<TransferEnd> transfers;
    std::vector<std::uint32_t> ranks;
    std::vector<std::int32_t> priorities;
    bool stuck = false;
};

GpuParams machine() {
    GpuParams p;
    p.copy.engines = 16;  // so that no copy waits for an engine
    return p;
}

struct Rank {
    Rank(std::shared_ptr<const RankGraph> graph, std::uint32_t number = 0) :
        gpu("gpu", machine(), Contention{}, simulation.scheduler()),
        copies("copies", machine().copy, gpu.memory(), simulation.scheduler()),
        collectives(simulation.scheduler()),
        replay(
            "replay", number, std::move(graph), gpu, copies, collectives, simulation.scheduler()) {}
    void run() {
        replay.start();
        simulation.run();
    }
    Simulation simulation;
    Gpu gpu;
    CopyEngine copies;
    FixedCollectives collectives;
    RankReplay replay;
};

TEST(HostThread, ServesInOrderOfArrival) {
    HostThread thread;
    EXPECT_EQ(thread.serve(microseconds(5), microseconds(10)), microseconds(15));
    EXPECT_EQ(thread.serve(microseconds(6), microseconds(10)), microseconds(25));
    EXPECT_EQ(thread.serve(microseconds(40), microseconds(1)), microseconds(41));
}

Operation operation(std::uint32_t stream, OperationBody body) {
    Operation o;
    o.stream = stream;
    o.body = std::move(body);
    return o;
}
Operation host(std::uint32_t stream, Time duration) {
    return operation(stream, HostDelayOperation{duration});
}
/// A kernel so small that all kernels of a graph fit on the GPU together.
Operation kernel(std::uint32_t stream, Time isolated) {
    KernelOperation k;
    k.block = {32, 1, 1};
    k.isolated = isolated;
    return operation(stream, k);
}
Operation copy(std::uint32_t stream, Time isolated) {
    CopyOperation c;
    c.isolated = isolated;
    return operation(stream, c);
}
Operation collective(std::uint32_t stream, Time duration) {
    CollectiveOperation c;
    c.measured = duration;
    return operation(stream, c);
}

Time duration_of(const Operation& o) {
    if (const auto* k = std::get_if<KernelOperation>(&o.body))
        return k->isolated;
    if (const auto* c = std::get_if<CopyOperation>(&o.body))
        return c->isolated;
    if (const auto* c = std::get_if<CollectiveOperation>(&o.body))
        return c->measured;
    return std::get<HostDelayOperation>(o.body).duration;
}

/// Expected times of a replay without contention, directly from the definition of a graph.
std::vector<OperationTimes> evaluate(const RankGraph& graph) {
    std::vector<OperationTimes> times(graph.operations.size());
    std::vector<Time> stream_free(graph.streams.size());
    for (std::size_t i = 0; i < graph.operations.size(); ++i) {
        const Operation& o = graph.operations[i];
        Time start = stream_free[o.stream];
        for (const std::uint32_t d : o.dependencies)
            start = std::max(start, times[d].end);
        times[i] = {start + o.gap, start + o.gap + duration_of(o)};
        stream_free[o.stream] = times[i].end;
    }
    return times;
}

constexpr std::uint32_t kStreams = 5;

std::shared_ptr<RankGraph> graph_of(const std::vector<Operation>& operations) {
    auto graph = std::make_shared<RankGraph>();
    graph->streams.resize(kStreams);
    graph->operations = {operations.begin(), operations.end()};
    return graph;
}

std::shared_ptr<RankGraph> any_graph() {
    const auto count = *rc::gen::inRange<std::uint32_t>(0, 60);
    std::vector<Operation> operations;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto stream = *rc::gen::inRange(0U, kStreams);
        const Time duration(*rc::gen::inRange<std::uint64_t>(0, 50'000'000));
        Operation o;
        switch (*rc::gen::inRange(0, 4)) {
        case 0:
            o = host(stream, duration);
            break;
        case 1:
            o = kernel(stream, duration);
            break;
        case 2:
            o = copy(stream, duration + Time(1));
            break;
        default:
            o = collective(stream, duration);
            break;
        }
        o.gap = Time(*rc::gen::element<std::uint64_t>(0, 0, 1, 2'000'000));
        for (int d = *rc::gen::inRange(0, 3); d > 0 && i > 0; --d)
            o.dependencies.push_back(*rc::gen::inRange(0U, i));
        operations.push_back(std::move(o));
    }
    return graph_of(operations);
}

RC_GTEST_PROP(Replay, FollowsStreamsDependenciesAndGaps, ()) {
    const auto graph = any_graph();
    Rank rank(graph);
    rank.run();
    RC_ASSERT(rank.replay.finished());
    RC_ASSERT(rank.replay.blocked(8).empty());
    const std::vector<OperationTimes> expected = evaluate(*graph);
    // Each kernel before an operation may round its end by a picosecond or two.
    const std::uint64_t slack = 2 * graph->operations.size();
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const OperationTimes& got = rank.replay.times()[i];
        RC_ASSERT(got.start.count() + slack >= expected[i].start.count());
        RC_ASSERT(got.start.count() <= expected[i].start.count() + slack);
        RC_ASSERT(got.end.count() + slack >= expected[i].end.count());
        RC_ASSERT(got.end.count() <= expected[i].end.count() + slack);
    }
}

RC_GTEST_PROP(Replay, IsDeterministic, ()) {
    const auto graph = any_graph();
    std::vector<OperationTimes> times;
    std::uint64_t events = 0;
    for (const bool again : {false, true}) {
        Rank rank(graph);
        rank.run();
        if (again) {
            RC_ASSERT(rank.simulation.scheduler().events() == events);
            RC_ASSERT(rank.replay.times() == times);
        }
        times = rank.replay.times();
        events = rank.simulation.scheduler().events();
    }
}

TEST(Replay, AnEmptyGraphIsFinished) {
    Rank rank(graph_of({}));
    rank.run();
    EXPECT_TRUE(rank.replay.finished());
}

TEST(Replay, AStreamKeepsItsOrderAndADependencyCrossesStreams) {
    std::vector<Operation> operations = {
        host(0, microseconds(3)),
        kernel(1, microseconds(10)),
        kernel(1, microseconds(5)),
        kernel(2, microseconds(1)),
    };
    operations[1].dependencies = {0};  // launched by the host
    operations[1].gap = microseconds(2);
    operations[3].dependencies = {1};  // an event between streams
    Rank rank(graph_of(operations));
    rank.run();
    const auto& times = rank.replay.times();
    EXPECT_EQ(times[1].start, microseconds(5));
    EXPECT_EQ(times[2].start, microseconds(15));
    EXPECT_EQ(times[2].end, microseconds(20));
    EXPECT_EQ(times[3].start, microseconds(15));
    EXPECT_EQ(times[3].end, microseconds(16));
}

TEST(Replay, TellsTheServiceWhoAsksAndHowUrgently) {
    auto graph = graph_of({collective(3, microseconds(1))});
    graph->streams[3].priority = -5;
    Rank rank(graph, 6);
    rank.run();
    EXPECT_EQ(rank.collectives.ranks, std::vector<std::uint32_t>{6});
    EXPECT_EQ(rank.collectives.priorities, std::vector<std::int32_t>{-5});
}

TEST(Replay, ASendAndAReceiveSayWhichEndTheyAre) {
    Rank rank(
        graph_of(
            {operation(0, SendOperation{5, Bytes(1000), 7}),
             operation(0, ReceiveOperation{4, Bytes(2000), 8})}),
        3);
    rank.run();
    ASSERT_TRUE(rank.replay.finished());
    ASSERT_EQ(rank.collectives.transfers.size(), 2U);
    EXPECT_EQ(rank.collectives.transfers[0].sender, 3U);
    EXPECT_EQ(rank.collectives.transfers[0].receiver, 5U);
    EXPECT_EQ(rank.collectives.transfers[0].tag, 7U);
    EXPECT_EQ(rank.collectives.transfers[1].sender, 4U);
    EXPECT_EQ(rank.collectives.transfers[1].receiver, 3U);
    EXPECT_EQ(rank.replay.times()[1].end, microseconds(3));
}

TEST(Replay, NamesTheOperationThatIsStuckAndNotThoseBehindIt) {
    auto graph = graph_of(
        {kernel(0, microseconds(1)), collective(1, microseconds(1)), kernel(1, microseconds(1))});
    Rank rank(graph);
    rank.collectives.stuck = true;
    rank.run();
    EXPECT_FALSE(rank.replay.finished());
    EXPECT_EQ(rank.replay.ended(), 1U);
    const auto blocked = rank.replay.blocked(8);
    ASSERT_EQ(blocked.size(), 1U);
    EXPECT_EQ(blocked[0].operation, 1U);
    EXPECT_EQ(rank.replay.blocked(0).size(), 0U);
}

TEST(Replay, AnOperationThatEndsTwiceIsOurBug) {
    Rank rank(graph_of({collective(0, microseconds(1))}));
    rank.run();
    EXPECT_THROW(rank.collectives.on_event(0), InternalError);
}

TEST(Replay, AKernelCostsAtMostThreeEvents) {
    std::vector<Operation> operations;
    for (int i = 0; i < 1000; ++i)
        operations.push_back(kernel(0, microseconds(3)));
    Rank rank(graph_of(operations));
    rank.run();
    EXPECT_EQ(rank.replay.times().back().end, microseconds(3000));
    EXPECT_LE(rank.simulation.scheduler().events(), 3000U);
}

}  // namespace
}  // namespace switchfold::replay_test
