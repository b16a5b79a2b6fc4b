// SPDX-License-Identifier: Apache-2.0
// Long collectives leave out repetitions: times and bytes stay the same, with fewer events.
#include "core/kernel/world_clock.h"
#include "models/tests/link_bytes.h"
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace switchfold::fast_forward_test {
namespace {

/// A one-time event of the outside world; it ends a jump.
struct Once final : EventHandler {
    void on_event(std::uint64_t) override { what(); }
    [[nodiscard]] InSkip in_skip() const override { return InSkip::kEnds; }
    std::function<void()> what;
};

struct Outcome {
    Time time;
    std::uint64_t bytes = 0;
    std::uint64_t events = 0;
    Time jumped;
};

struct Case {
    Topology topology;
    CollectivePolicy policy;
    CollectiveOperation operation;
};

using Disturb = std::function<void(TestMachine&, WorldClock&, Once&)>;

Outcome run_once(const Case& c, bool jumps, const Disturb& disturb = {}) {
    TestMachine machine(c.topology, TestMachine::params(), c.policy);
    LinkBytes bytes(machine.fabric);
    if (jumps)
        machine.engine->allow_shortcuts(bytes, Recall::kBesideKernels);
    WorldClock clock(machine.simulation.scheduler());
    Once once;
    if (disturb)
        disturb(machine, clock, once);
    const CollectiveRecord record = machine.run(c.operation);
    EXPECT_EQ(machine.ended % machine.group.size(), 0U);
    return {
        record.end - record.start, bytes.all_bytes(), machine.simulation.scheduler().events(),
        machine.engine->jumped()};
}

Case all_reduce(const Topology& topology, Algorithm algorithm, std::uint64_t bytes) {
    Case c{topology, {}, {}};
    c.policy.algorithm = algorithm;
    c.operation.bytes = Bytes(bytes);
    return c;
}

double difference(double a, double b) {
    return std::abs(a - b) / b;
}

struct Both {
    Outcome exact;
    Outcome jumping;
};

/// Runs with and without jumps. Times agree within 0.5 %, and bytes up to the packets in flight.
Both expect_the_same(const Case& c, const std::string& what, const Disturb& disturb = {}) {
    Both both{run_once(c, false, disturb), run_once(c, true, disturb)};
    const auto& [exact, jumping] = both;
    EXPECT_EQ(exact.jumped, Time());
    EXPECT_LT(difference(to_seconds(jumping.time), to_seconds(exact.time)), 0.005) << what;
    EXPECT_LT(
        difference(static_cast<double>(jumping.bytes), static_cast<double>(exact.bytes)), 0.005)
        << what;
    if (jumping.jumped == Time()) {
        EXPECT_EQ(jumping.time, exact.time) << what;
    }
    return both;
}

constexpr std::uint64_t kMiB = 1ULL << 20U;

TEST(FastForward, ALongRingTakesTheSameTimeForAFractionOfTheEvents) {
    for (const std::uint64_t mebibytes : {8192U, 12000U}) {
        const Case c = all_reduce(TestMachine::hgx(8).build(), Algorithm::kRing, mebibytes * kMiB);
        const auto [exact, jumping] = expect_the_same(c, "ring");
        EXPECT_GT(jumping.jumped, exact.time * 1 / 4);
        EXPECT_LT(jumping.events, exact.events * 3 / 4);
    }
}

TEST(FastForward, EveryAlgorithmTakesTheSameTime) {
    const Topology two = TestMachine::cluster(2, 4);
    const Topology one = TestMachine::hgx(8).build();
    expect_the_same(all_reduce(one, Algorithm::kTree, 256 * kMiB), "tree in a machine");
    expect_the_same(all_reduce(one, Algorithm::kInSwitch, 256 * kMiB), "in the switch");
    expect_the_same(all_reduce(two, Algorithm::kRing, 256 * kMiB), "ring across machines");
    expect_the_same(all_reduce(two, Algorithm::kTree, 256 * kMiB), "tree across machines");
    expect_the_same(all_reduce(two, Algorithm::kInSwitchTree, 128 * kMiB), "NVLS tree");
    expect_the_same(
        all_reduce(TestMachine::reducing_cluster(2, 4), Algorithm::kCollnet, 128 * kMiB),
        "CollNet");
}

TEST(FastForward, LongCollectivesOfEachKindDoJump) {
    const Topology two = TestMachine::cluster(2, 4);
    const Topology one = TestMachine::hgx(8).build();
    // A chain's chunks in Simple fill the FIFOs of every hop for most of such a transfer.
    Case chain = all_reduce(one, Algorithm::kTree, 8192 * kMiB);
    chain.policy.protocol = Protocol::kLl128;
    for (const Case& c :
         {all_reduce(one, Algorithm::kRing, 16384 * kMiB), chain,
          all_reduce(one, Algorithm::kInSwitch, 8192 * kMiB),
          all_reduce(two, Algorithm::kRing, 8192 * kMiB),
          all_reduce(two, Algorithm::kTree, 8192 * kMiB),
          all_reduce(two, Algorithm::kInSwitchTree, 4096 * kMiB),
          all_reduce(TestMachine::reducing_cluster(2, 4), Algorithm::kCollnet, 8192 * kMiB)}) {
        const Outcome jumping = run_once(c, true);
        EXPECT_GT(to_seconds(jumping.jumped), 0.5 * to_seconds(jumping.time))
            << enum_name(c.policy.algorithm);
    }
}

TEST(FastForward, LongTreesOverMachinesAreSkippedAtTheirMeanPace) {
    const Case c = all_reduce(TestMachine::cluster(4, 2), Algorithm::kInSwitchTree, 1024 * kMiB);
    const Outcome exact = run_once(c, false);
    const Outcome jumping = run_once(c, true);
    EXPECT_GT(to_seconds(jumping.jumped), 0.25 * to_seconds(exact.time));
    EXPECT_LT(difference(to_seconds(jumping.time), to_seconds(exact.time)), 0.015);
}

TEST(FastForward, StepsOfALongLoopAreLeftOutInsideItsHalves) {
    // One loop of 94 steps, half of which reduce and half copy.
    const Case c = all_reduce(TestMachine::hgx(48).build(), Algorithm::kRing, 48 * kMiB);
    const Outcome exact = run_once(c, false);
    const Outcome jumping = run_once(c, true);
    EXPECT_GT(to_seconds(jumping.jumped), 0.25 * to_seconds(exact.time));
    EXPECT_LT(jumping.events, exact.events * 3 / 4);
    expect_the_same(c, "one loop");
    Case scatter = c;
    scatter.operation.kind = CollectiveKind::kReduceScatter;
    expect_the_same(scatter, "reduce-scatter");
}

TEST(FastForward, PullsOfRegisteredBuffersLeaveOutHunksOfTheirPieces) {
    for (const InSwitchMode mode : {InSwitchMode::kPull, InSwitchMode::kCommand})
        for (const std::uint32_t gpus : {4U, 7U}) {
            Case c = all_reduce(
                TestMachine::hgx(gpus).build(), Algorithm::kInSwitch, 512 * kMiB + 12'340);
            c.policy.registered = true;
            c.policy.mode = mode;
            const Outcome exact = run_once(c, false);
            const Outcome jumping = run_once(c, true);
            // Four GPUs that pull: no period is found since answers and stores take turns on links
            // (docs/notebook/performance.md).
            if (mode != InSwitchMode::kPull || gpus != 4) {
                EXPECT_GT(to_seconds(jumping.jumped), 0.25 * to_seconds(exact.time)) << gpus;
                EXPECT_LT(jumping.events, exact.events * 3 / 4) << gpus;
            }
            expect_the_same(c, "registered");
        }
}

// The network's switch reduces as well, and each GPU's NIC is what all heads wait for: blocks move
// in bursts, each at its own moment.
TEST(FastForward, PullsOfRegisteredBuffersAcrossMachinesLeaveOutHunks) {
    ClusterTopology cluster = TestMachine::cluster_of(2, 4);
    SingleSwitchNetwork network = std::get<SingleSwitchNetwork>(cluster.network);
    network.node = TestMachine::hgx(4).node;
    cluster.network = network;
    Case c = all_reduce(cluster.build(), Algorithm::kInSwitch, 300 * kMiB);
    c.policy.registered = true;
    const auto [exact, jumping] = expect_the_same(c, "registered, two machines");
    EXPECT_GT(jumping.jumped, exact.time / 2);
}

// The first all-reduce of a run is refused while it is made: the ring in its place may jump.
TEST(FastForward, ARingInPlaceOfARefusedPullJumps) {
    SwitchedTopology topology = TestMachine::hgx(8);
    topology.node.reduction->when_full = WhenFull::kRefuse;
    topology.node.reduction->entries = 8;
    topology.node.reduction->group_entries = 200;
    const Case refused = all_reduce(topology.build(), Algorithm::kInSwitch, 8192 * kMiB);
    EXPECT_GT(run_once(refused, true).jumped, Time());
    expect_the_same(refused, "refused");
}

TEST(FastForward, LongExchangesLeaveOutChunks) {
    Case c{TestMachine::cluster(2, 4), {}, {}};
    c.policy.channels = 16;
    c.operation.kind = CollectiveKind::kAllToAll;
    c.operation.bytes = Bytes(2048 * kMiB);
    const Outcome exact = run_once(c, false);
    const Outcome jumping = run_once(c, true);
    EXPECT_GT(to_seconds(jumping.jumped), 0.25 * to_seconds(exact.time));
    EXPECT_LT(jumping.events, exact.events * 3 / 4);
    expect_the_same(c, "exchange");
}

TEST(FastForward, PullsOfManyHeadsTravelInLargerPackets) {
    const Case c = all_reduce(TestMachine::hgx(64).build(), Algorithm::kInSwitch, 128 * kMiB);
    const Outcome exact = run_once(c, false);
    const Outcome coarse = run_once(c, true);
    EXPECT_LT(coarse.events, exact.events * 3 / 4);
    EXPECT_LT(difference(to_seconds(coarse.time), to_seconds(exact.time)), 0.005);
    EXPECT_EQ(coarse.bytes, exact.bytes);
}

TEST(FastForward, WhatDriftsSlowlyIsWatchedForLonger) {
    // The posts of two members drift against each other's polls, and leap once in many loops.
    Case c = all_reduce(TestMachine::hgx(2).build(), Algorithm::kInSwitch, 24'084'480);
    c.policy.protocol = Protocol::kSimple;
    c.policy.channels = 2;
    c.operation.kind = CollectiveKind::kReduceScatter;
    expect_the_same(c, "reduce-scatter of two");
    c.operation.kind = CollectiveKind::kAllReduce;
    c.operation.bytes = Bytes(35'827'712);
    expect_the_same(c, "all-reduce of two");
    Case tree = all_reduce(TestMachine::cluster(3, 2), Algorithm::kInSwitchTree, 67'886'080);
    tree.policy.protocol = Protocol::kLl128;
    tree.policy.channels = 1;
    expect_the_same(tree, "tree over machines of two");
}

TEST(FastForward, WhatIsUnderWayAtTheStartIsNotCountedAsRepeating) {
    Case c = all_reduce(TestMachine::hgx(4).build(), Algorithm::kInSwitch, 30'622'720);
    c.policy.channels = 4;
    c.operation.kind = CollectiveKind::kAllGather;
    EXPECT_GT(run_once(c, true).jumped, Time());
    expect_the_same(c, "all-gather");
}

TEST(FastForward, SmallCollectivesAreCarriedOutWhole) {
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kTree, Algorithm::kInSwitch}) {
        const Case c = all_reduce(TestMachine::hgx(4).build(), algorithm, kMiB);
        EXPECT_EQ(run_once(c, true).time, run_once(c, false).time);
        EXPECT_EQ(run_once(c, true).jumped, Time());
    }
}

TEST(FastForward, FunctionalModeLeavesNothingOut) {
    CollectivePolicy policy;
    policy.algorithm = Algorithm::kRing;
    TestMachine machine(TestMachine::hgx(2).build(), TestMachine::params(), policy, 7);
    LinkBytes bytes(machine.fabric);
    machine.engine->allow_shortcuts(bytes, Recall::kBesideKernels);
    CollectiveOperation operation;
    operation.bytes = Bytes(64 * kMiB);
    machine.run(operation);
    EXPECT_EQ(machine.engine->jumped(), Time());
    EXPECT_TRUE(machine.engine->wrong_results().empty());
}

TEST(FastForward, AnEventOfTheWorldComesAtItsTime) {
    const Case c = all_reduce(TestMachine::hgx(8).build(), Algorithm::kRing, 1024 * kMiB);
    Time seen;
    const Outcome jumping = run_once(c, true, [&](TestMachine&, WorldClock& clock, Once& once) {
        once.what = [&] { seen = clock.now(); };
        clock.at(microseconds(3333), once, 0);
    });
    EXPECT_EQ(seen, microseconds(3333));
    EXPECT_GT(jumping.time, microseconds(3333));
}

TEST(FastForward, AFaultEndsIt) {
    // From the middle of the run a cable has a third of its rate. The rest repeats at another pace
    // and takes longer.
    const Case c = all_reduce(TestMachine::hgx(4).build(), Algorithm::kRing, 512 * kMiB);
    const Time healthy = run_once(c, false).time;
    const Disturb degrade = [&](TestMachine& machine, WorldClock& clock, Once& once) {
        once.what = [&machine] { machine.fabric.links()[0]->degrade(333'000); };
        clock.at(Time(healthy.count() / 2), once, 0);
    };
    expect_the_same(c, "degraded", degrade);
    EXPECT_GT(to_seconds(run_once(c, true, degrade).time), 1.2 * to_seconds(healthy));
    const Disturb cut = [&](TestMachine& machine, WorldClock& clock, Once& once) {
        once.what = [&machine] { machine.fabric.take_down(0); };
        clock.at(Time(healthy.count() / 2), once, 0);
    };
    expect_the_same(c, "cut", cut);
    expect_the_same(
        all_reduce(TestMachine::hgx(4).build(), Algorithm::kInSwitch, 256 * kMiB), "cut NVLS", cut);
}

TEST(FastForward, AnotherCollectiveEndsIt) {
    // A smaller collective in the middle shares the links for a while, so the long one ends later.
    const Case c = all_reduce(TestMachine::hgx(8).build(), Algorithm::kRing, 16384 * kMiB);
    struct Nobody final : CollectiveListener {
        void on_collective_end(std::uint32_t) override {}
    };
    Nobody nobody;
    const Time alone = run_once(c, false).time;
    const Disturb another = [&](TestMachine& machine, WorldClock& clock, Once& once) {
        once.what = [&] {
            CollectiveOperation second = c.operation;
            second.bytes = Bytes(512 * kMiB);
            second.sequence = c.operation.sequence + 1;
            for (const std::uint32_t rank : machine.group)
                machine.engine->start(rank, 100 + rank, second, 0, nobody);
        };
        clock.at(Time(alone.count() / 2), once, 0);
    };
    expect_the_same(c, "beside another", another);
    const Outcome jumping = run_once(c, true, another);
    EXPECT_GT(jumping.jumped, Time());
    EXPECT_GT(to_seconds(jumping.time), 1.03 * to_seconds(alone));
}

TEST(FastForward, WaitingForALatePeerIsNotLeftOut) {
    for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllToAll}) {
        const std::uint64_t mebibytes = kind == CollectiveKind::kAllReduce ? 8192 : 1024;
        Case c = all_reduce(TestMachine::hgx(8).build(), Algorithm::kRing, mebibytes * kMiB);
        c.operation.kind = kind;
        const Time together = run_once(c, true).time;
        c.operation.peers_late = microseconds(3000);
        expect_the_same(c, "late peers");
        EXPECT_GT(run_once(c, true).time, together);
    }
}

RC_GTEST_PROP(JumpProperty, AnyCollectiveTakesTheSameTime, ()) {
    const auto machines = *rc::gen::inRange<std::uint32_t>(1, 4);
    const auto gpus = *rc::gen::inRange<std::uint32_t>(2, 5);
    const bool reducing = *rc::gen::arbitrary<bool>();
    const Topology topology = machines == 1 ? TestMachine::hgx(gpus).build()
                              : reducing    ? TestMachine::reducing_cluster(machines, gpus)
                                            : TestMachine::cluster(machines, gpus);
    Case c{topology, {}, {}};
    c.policy.algorithm = *rc::gen::element(
        Algorithm::kRing, Algorithm::kTree,
        machines == 1 ? Algorithm::kInSwitch
        : reducing    ? Algorithm::kCollnet
                      : Algorithm::kInSwitchTree);
    c.policy.registered = *rc::gen::arbitrary<bool>();
    c.policy.channels = *rc::gen::inRange<std::uint32_t>(1, 5);
    c.policy.protocol = *rc::gen::element(Protocol::kAuto, Protocol::kSimple, Protocol::kLl128);
    c.operation.kind = *rc::gen::element(
        CollectiveKind::kAllReduce, CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter,
        CollectiveKind::kAllGather, CollectiveKind::kBroadcast, CollectiveKind::kAllToAll);
    c.operation.bytes = Bytes(*rc::gen::inRange<std::uint64_t>(1, 96 * kMiB / 1024) * 1024);
    const Outcome exact = run_once(c, false);
    const Outcome jumping = run_once(c, true);
    RC_LOG() << machines << " x " << gpus << " " << enum_name(c.policy.algorithm) << " "
             << enum_name(c.policy.protocol) << " " << to_string(c.operation.kind) << ", "
             << c.policy.channels << " channels" << (c.policy.registered ? ", registered" : "")
             << ", " << c.operation.bytes.count() << " bytes: " << to_microseconds(exact.time)
             << " us, and " << to_microseconds(jumping.time) << " of which "
             << to_microseconds(jumping.jumped) << " were left out, bytes " << exact.bytes << " "
             << jumping.bytes << std::endl;
    RC_ASSERT(difference(to_seconds(jumping.time), to_seconds(exact.time)) < 0.005);
    RC_ASSERT(
        difference(static_cast<double>(jumping.bytes), static_cast<double>(exact.bytes)) < 0.005);
}

/// One GPU of each machine in each group, or all GPUs of a machine.
std::vector<Group> groups_of(std::uint32_t machines, std::uint32_t gpus, bool across) {
    std::vector<Group> groups;
    for (std::uint32_t i = 0; i < (across ? gpus : machines); ++i) {
        Group group{"some", {}};
        for (std::uint32_t j = 0; j < (across ? machines : gpus); ++j)
            group.ranks.push_back(across ? j * gpus + i : i * gpus + j);
        groups.push_back(std::move(group));
    }
    return groups;
}

struct Beside {
    Time last;  ///< end
    std::uint64_t bytes = 0;
    std::uint64_t events = 0;
    Time jumped;
};

Beside run_beside(const Case& c, const std::vector<Group>& groups, bool jumps) {
    TestMachine machine(
        c.topology, TestMachine::params(), CollectivePolicies(c.policy), 0, {}, 0, groups);
    LinkBytes bytes(machine.fabric);
    if (jumps)
        machine.engine->allow_shortcuts(bytes, Recall::kBesideKernels);
    const WorldClock clock(machine.simulation.scheduler());
    const auto records = machine.run_others(c.operation);
    EXPECT_EQ(records.size(), groups.size());
    Beside all{
        {}, bytes.all_bytes(), machine.simulation.scheduler().events(), machine.engine->jumped()};
    for (const CollectiveRecord& record : records)
        all.last = std::max(all.last, record.end);
    return all;
}

TEST(FastForward, GroupsThatDoTheSameBesideEachOtherJumpTogether) {
    // Four GPUs of a machine share two network interfaces.
    ClusterTopology shared = TestMachine::cluster_of(4, 4);
    shared.nics.count = shared.nics.pcie_switches = 2;
    struct Machines {
        Topology topology;
        bool across;
        std::uint64_t size;
    };
    for (const Machines& m :
         {Machines{shared.build(), true, 4096 * kMiB},
          Machines{TestMachine::cluster(4, 4), true, 2048 * kMiB},
          Machines{TestMachine::cluster(2, 8), false, 1024 * kMiB}}) {
        Case c = all_reduce(m.topology, Algorithm::kRing, m.size);
        c.policy.channels = m.across ? 0 : 2;
        const auto groups = groups_of(m.across ? 4 : 2, m.across ? 4 : 8, m.across);
        const Beside exact = run_beside(c, groups, false);
        const Beside jumping = run_beside(c, groups, true);
        EXPECT_LT(difference(to_seconds(jumping.last), to_seconds(exact.last)), 0.005);
        EXPECT_LT(
            difference(static_cast<double>(jumping.bytes), static_cast<double>(exact.bytes)),
            0.005);
        EXPECT_LT(jumping.events, exact.events / 3);
    }
}

TEST(FastForward, GroupsThatDoOtherThingsBesideEachOtherDoNotJump) {
    CollectivePolicy policy = ring_policy();
    policy.channels = 2;
    TestMachine machine(
        TestMachine::cluster(2, 8), TestMachine::params(), CollectivePolicies(policy), 0, {}, 0,
        groups_of(2, 8, false));
    LinkBytes bytes(machine.fabric);
    machine.engine->allow_shortcuts(bytes, Recall::kBesideKernels);
    struct Nobody final : CollectiveListener {
        void on_collective_end(std::uint32_t) override {}
    };
    Nobody nobody;
    for (const std::uint32_t group : {1U, 2U}) {
        CollectiveOperation operation;
        operation.group = group;
        operation.bytes = Bytes(1024 * kMiB / group);
        for (const std::uint32_t rank : machine.groups[group].ranks)
            machine.engine->start(rank, rank, operation, 0, nobody);
    }
    // The longer one jumps once it is alone.
    machine.simulation.run();
    const auto& records = machine.engine->records();
    ASSERT_EQ(records.size(), 2U);
    EXPECT_GT(machine.engine->jumped(), Time());
    EXPECT_LT(machine.engine->jumped(), records[1].end - records[0].end);
}

RC_GTEST_PROP(JumpProperty, GroupsBesideEachOtherTakeTheSameTime, ()) {
    const auto machines = *rc::gen::inRange<std::uint32_t>(2, 5);
    const auto gpus = *rc::gen::element(2U, 4U);
    ClusterTopology cluster = TestMachine::cluster_of(machines, gpus);
    cluster.nics.count = cluster.nics.pcie_switches = *rc::gen::element(gpus, gpus / 2);
    Case c{cluster.build(), {}, {}};
    c.policy.algorithm = *rc::gen::element(Algorithm::kRing, Algorithm::kTree);
    c.policy.channels = *rc::gen::inRange<std::uint32_t>(1, 5);
    c.policy.protocol = *rc::gen::element(Protocol::kAuto, Protocol::kSimple, Protocol::kLl128);
    c.operation.kind = *rc::gen::element(
        CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather);
    c.operation.bytes = Bytes(*rc::gen::inRange<std::uint64_t>(1, 96 * kMiB / 1024) * 1024);
    const auto groups = groups_of(machines, gpus, *rc::gen::arbitrary<bool>());
    const Beside exact = run_beside(c, groups, false);
    const Beside jumping = run_beside(c, groups, true);
    RC_LOG() << machines << " x " << gpus << " " << cluster.nics.count << " interfaces, "
             << groups.size() << " groups, " << enum_name(c.policy.algorithm) << " "
             << to_string(c.operation.kind) << ", " << c.operation.bytes.count()
             << " bytes: " << to_microseconds(exact.last) << " us, and "
             << to_microseconds(jumping.last) << " of which " << to_microseconds(jumping.jumped)
             << " were left out, bytes " << exact.bytes << " " << jumping.bytes << std::endl;
    RC_ASSERT(difference(to_seconds(jumping.last), to_seconds(exact.last)) < 0.005);
    RC_ASSERT(
        difference(static_cast<double>(jumping.bytes), static_cast<double>(exact.bytes)) < 0.005);
}

}  // namespace
}  // namespace switchfold::fast_forward_test
