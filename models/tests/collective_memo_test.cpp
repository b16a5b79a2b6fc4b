// SPDX-License-Identifier: Apache-2.0
// A collective like an earlier one, both undisturbed, passes as that one did, without packets.
#include "models/tests/link_bytes.h"
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace switchfold::collective_memo_test {
namespace {

constexpr std::uint64_t kMiB = 1ULL << 20U;

struct Call final : EventHandler {
    void on_event(std::uint64_t) override { what(); }
    [[nodiscard]] InSkip in_skip() const override { return InSkip::kEnds; }
    std::function<void()> what;
};

/// A machine on which a collective is called again and again, and what each call took.
class Repeats : CollectiveListener {
public:
    Repeats(
        const Topology& topology, Algorithm algorithm, Recall recall,
        std::uint64_t functional_seed = 0) :
        machine_(topology, TestMachine::params(), policy_of(algorithm), functional_seed),
        bytes_(machine_.fabric) {
        machine_.engine->allow_shortcuts(bytes_, recall);
    }

    struct Taken {
        Time time;  ///< from the arrival of the last rank
        std::uint64_t events = 0;
        double bytes = 0;  ///< over all links
    };
    /// `late`: the last rank comes so much later. `middle` is called at `share` of the time that
    /// the first call took.
    Taken call(
        CollectiveOperation operation, Time late = {}, const std::function<void()>& middle = {},
        double share = 0.5) {
        operation.sequence = sequence_++;
        const std::uint64_t events = scheduler().events();
        const double bytes = bytes_.all().front();
        const std::uint32_t last = machine_.group.back();
        const Time begin = scheduler().last_event() + microseconds(1);
        Call others;
        others.what = [&] {
            for (const std::uint32_t rank : machine_.group)
                if (rank != last)
                    machine_.engine->start(rank, rank, operation, 0, *this);
        };
        scheduler().at(begin, others, 0);
        Call come;
        come.what = [&] { machine_.engine->start(last, last, operation, 0, *this); };
        scheduler().at(begin + late, come, 0);
        Call disturb;
        disturb.what = middle;
        if (middle)
            scheduler().at(
                begin + late +
                    Time(static_cast<std::uint64_t>(static_cast<double>(usual_.count()) * share)),
                disturb, 0);
        machine_.simulation.run();
        const CollectiveRecord& record = record_of(operation.sequence);
        const Time took = record.end - record.ready;
        if (usual_ == Time())
            usual_ = took;
        return {took, scheduler().events() - events, bytes_.all().front() - bytes};
    }
    [[nodiscard]] const CollectiveRecord& record_of(std::uint64_t sequence) const {
        for (const CollectiveRecord& record : machine_.engine->records())
            if (record.sequence == sequence)
                return record;
        throw std::runtime_error("the collective has not ended");
    }
    TestMachine& machine() { return machine_; }
    /// Data move over links, which disturbs collectives.
    void begin_copy() { machine_.fabric.begin_host_copy(); }
    void end_copy() { machine_.fabric.host_traffic().copies = 0; }
    /// A collective that the middle of another call may start.
    void start_another(CollectiveOperation operation) {
        operation.sequence = 1000 + sequence_;
        for (const std::uint32_t rank : machine_.group)
            machine_.engine->start(rank, 100 + rank, operation, 0, *this);
    }

private:
    static CollectivePolicy policy_of(Algorithm algorithm) {
        CollectivePolicy policy;
        policy.algorithm = algorithm;
        return policy;
    }
    Scheduler& scheduler() { return machine_.simulation.scheduler(); }
    void on_collective_end(std::uint32_t) override {}
    TestMachine machine_;
    LinkBytes bytes_;
    std::uint64_t sequence_ = 0;
    Time usual_;
};

CollectiveOperation of(std::uint64_t bytes, CollectiveKind kind = CollectiveKind::kAllReduce) {
    CollectiveOperation operation;
    operation.kind = kind;
    operation.bytes = Bytes(bytes);
    return operation;
}

double relative(Time a, Time b) {
    return to_seconds(a) / to_seconds(b);
}

TEST(CollectiveMemo, ACollectiveLikeAnEarlierOneTakesItsTimeAndBytesWithoutPackets) {
    Repeats repeats(TestMachine::hgx(8).build(), Algorithm::kRing, Recall::kBesideKernels);
    const auto first = repeats.call(of(64 * kMiB));
    for (int i = 0; i < 3; ++i) {
        const auto again = repeats.call(of(64 * kMiB));
        EXPECT_EQ(again.time, first.time);
        EXPECT_NEAR(again.bytes, first.bytes, 1);
        EXPECT_LT(again.events, 100U);
    }
    EXPECT_GT(first.events, 10'000U);
    EXPECT_GE(repeats.machine().engine->jumped(), first.time * 2);
}

TEST(CollectiveMemo, OnlyTheSameCollectiveIsRecalled) {
    Repeats repeats(TestMachine::hgx(8).build(), Algorithm::kRing, Recall::kBesideKernels);
    repeats.call(of(64 * kMiB));
    EXPECT_GT(repeats.call(of(65 * kMiB)).events, 10'000U);
    EXPECT_GT(repeats.call(of(64 * kMiB, CollectiveKind::kAllGather)).events, 1000U);
    EXPECT_LT(repeats.call(of(65 * kMiB)).events, 100U);
}

TEST(CollectiveMemo, NumbersTravelEachTime) {
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kInSwitch}) {
        Repeats repeats(TestMachine::hgx(4).build(), algorithm, Recall::kBesideKernels, 7);
        for (int i = 0; i < 3; ++i)
            EXPECT_GT(repeats.call(of(4 * kMiB)).events, 1000U);
        EXPECT_EQ(repeats.machine().engine->wrong_results(), std::vector<std::string>());
    }
}

TEST(CollectiveMemo, NothingIsRecalledWhereItMayNotBe) {
    Repeats repeats(TestMachine::hgx(8).build(), Algorithm::kRing, Recall::kNever);
    const auto first = repeats.call(of(64 * kMiB));
    EXPECT_GT(repeats.call(of(64 * kMiB)).events, first.events / 2);
    EXPECT_EQ(repeats.machine().engine->jumped(), Time());
}

// Of memories that move nothing no pace beside kernels can be told.
TEST(CollectiveMemo, WithoutAPaceBesideKernelsNothingIsLearntOrRecalledBesideThem) {
    Repeats repeats(TestMachine::hgx(8).build(), Algorithm::kRing, Recall::kBesideKernels);
    repeats.machine().ports[3]->draw(1e12);
    const auto first = repeats.call(of(64 * kMiB));
    EXPECT_GT(repeats.call(of(64 * kMiB)).events, first.events / 2);
    repeats.machine().ports[3]->draw(0);
    EXPECT_GT(repeats.call(of(64 * kMiB)).events, first.events / 2);
    EXPECT_LT(repeats.call(of(64 * kMiB)).events, 100U);
    repeats.machine().ports[3]->draw(1e12);
    EXPECT_GT(repeats.call(of(64 * kMiB)).events, first.events / 2);
}

TEST(CollectiveMemo, WhereKernelsDisturbItMovesWhatIsLeft) {
    Repeats repeats(TestMachine::hgx(8).build(), Algorithm::kRing, Recall::kAlone);
    const auto first = repeats.call(of(64 * kMiB));
    EXPECT_LT(repeats.call(of(64 * kMiB)).events, 100U);
    IdealPort& port = *repeats.machine().ports[5];
    const auto disturbed = repeats.call(of(64 * kMiB), {}, [&] { port.draw(1e12); });
    EXPECT_GT(disturbed.events, first.events / 3);
    EXPECT_GT(repeats.call(of(64 * kMiB)).events, first.events / 2) << "beside the kernel";
    port.draw(0);
    EXPECT_GT(repeats.call(of(64 * kMiB)).events, first.events / 2) << "an example again";
    EXPECT_LT(repeats.call(of(64 * kMiB)).events, 100U);
}

TEST(CollectiveMemo, WhoIsDisturbedMovesWhatIsLeft) {
    const Topology topology = TestMachine::hgx(8).build();
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kTree, Algorithm::kInSwitch}) {
        Repeats repeats(topology, algorithm, Recall::kBesideKernels);
        const auto first = repeats.call(of(64 * kMiB));
        const Time before = repeats.machine().engine->jumped();
        const auto disturbed = repeats.call(of(64 * kMiB), {}, [&] { repeats.begin_copy(); });
        repeats.end_copy();
        // The second half is simulated. Filling its pipeline costs time: most in a tree, whose
        // chain passes all GPUs. In the switch nothing is gathered while the first loop is
        // scattered, nor scattered while the last is gathered: up to two of sixteen loops of half
        // chunks.
        const double filled = algorithm == Algorithm::kTree       ? 1.2
                              : algorithm == Algorithm::kInSwitch ? 1.08
                                                                  : 1.06;
        EXPECT_GT(relative(disturbed.time, first.time), 0.98);
        EXPECT_LT(relative(disturbed.time, first.time), filled);
        EXPECT_NEAR(disturbed.bytes / first.bytes, 1, 0.01);
        EXPECT_NEAR(relative(repeats.machine().engine->jumped() - before, first.time), 0.5, 0.01);
    }
}

TEST(CollectiveMemo, WhoIsDisturbedBeforeItsMembersWorkHasMovedNothing) {
    for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter})
        for (const double share : {0.0, 0.05}) {
            Repeats repeats(TestMachine::hgx(4).build(), Algorithm::kRing, Recall::kBesideKernels);
            const auto first = repeats.call(of(2 * kMiB, kind));
            const auto disturbed = repeats.call(
                of(2 * kMiB, kind), {}, [&] { repeats.begin_copy(); }, share);
            repeats.end_copy();
            EXPECT_NEAR(relative(disturbed.time, first.time), 1, 0.002) << share;
            EXPECT_NEAR(disturbed.bytes / first.bytes, 1, 0.001) << share;
        }
}

TEST(CollectiveMemo, WhoIsDisturbedOftenIsSimulated) {
    Repeats repeats(TestMachine::hgx(8).build(), Algorithm::kRing, Recall::kBesideKernels);
    const auto recalled = [&] { return repeats.call(of(64 * kMiB)).events < 100U; };
    const auto disturb = [&] {
        repeats.call(of(64 * kMiB), {}, [&] { repeats.begin_copy(); });
        repeats.end_copy();
    };
    EXPECT_FALSE(recalled());
    for (const int cautious : {1, 2, 3, 5}) {  // calls that are simulated, the example among them
        disturb();
        for (int i = 0; i < cautious; ++i)
            EXPECT_FALSE(recalled()) << cautious;
        EXPECT_TRUE(recalled()) << cautious;
    }
}

TEST(CollectiveMemo, AnotherCollectiveAndAHostCopyDisturb) {
    const auto run = [](bool remember) {
        Repeats repeats(
            TestMachine::hgx(8).build(), Algorithm::kRing,
            remember ? Recall::kBesideKernels : Recall::kNever);
        repeats.call(of(256 * kMiB));
        return repeats.call(of(256 * kMiB), {}, [&] { repeats.start_another(of(32 * kMiB)); }).time;
    };
    // Both share the links from the middle on.
    EXPECT_NEAR(relative(run(true), run(false)), 1, 0.03);
    Repeats repeats(TestMachine::hgx(8).build(), Algorithm::kRing, Recall::kBesideKernels);
    const auto first = repeats.call(of(256 * kMiB));
    const auto disturbed =
        repeats.call(of(256 * kMiB), {}, [&] { repeats.machine().fabric.begin_host_copy(); });
    EXPECT_GT(disturbed.events, first.events / 3);
}

TEST(CollectiveMemo, OneWithALateMemberIsAnExampleForSuchOnly) {
    Repeats repeats(TestMachine::hgx(8).build(), Algorithm::kRing, Recall::kBesideKernels);
    const Time late = microseconds(2000);
    const auto first = repeats.call(of(64 * kMiB), late);
    EXPECT_GT(repeats.call(of(64 * kMiB)).events, first.events / 2);
    const auto again = repeats.call(of(64 * kMiB), late * 2);
    EXPECT_LT(again.events, first.events / 2);  // what the others move before it comes
    EXPECT_EQ(again.time, first.time);
    EXPECT_NEAR(again.bytes, first.bytes, 1);
    // The others have not moved all that they can.
    EXPECT_GT(repeats.call(of(64 * kMiB), microseconds(20)).events, first.events / 2);
}

TEST(CollectiveMemo, WhoseMembersComeAsFarApartAsBeforePassesAlike) {
    for (const Recall recall : {Recall::kAlone, Recall::kBesideKernels}) {
        Repeats repeats(TestMachine::hgx(8).build(), Algorithm::kRing, recall);
        const Time late = microseconds(30);
        const auto first = repeats.call(of(256 * kMiB), late);
        for (const Time nearly : {late, late + microseconds(1), late - microseconds(1)}) {
            const auto again = repeats.call(of(256 * kMiB), nearly);
            EXPECT_LT(again.events, first.events / 4);  // what the others had begun
            EXPECT_NEAR(relative(again.time, first.time), 1, 0.001);
            EXPECT_NEAR(again.bytes / first.bytes, 1, 0.001);
        }
        const auto later = repeats.call(of(256 * kMiB), late * 2);
        EXPECT_GT(later.events, first.events / 2);
    }
}

TEST(CollectiveMemo, OperandsThatWaitInSwitchesForALateMemberAreAdded) {
    // A network that reduces: what the others have pushed stays in its units until the last comes.
    ClusterTopology cluster = TestMachine::cluster_of(2, 4);
    SwitchParams& node = std::get<SingleSwitchNetwork>(cluster.network).node;
    node.multicast = true;
    node.reduction = ReductionUnitParams{};
    node.reduction->line = Bytes(4096);
    node.reduction->buffer = mebibytes(1);
    node.reduction->timeout = microseconds(20'000);
    Repeats repeats(cluster.build(), Algorithm::kCollnet, Recall::kBesideKernels);
    const Time late = microseconds(2000);
    const auto first = repeats.call(of(16 * kMiB), late);
    for (int i = 0; i < 3; ++i) {
        const auto again = repeats.call(of(16 * kMiB), late * 2);
        EXPECT_GT(again.events, first.events / 2);
        EXPECT_NEAR(relative(again.time, first.time), 1, 0.01);
    }
}

TEST(CollectiveMemo, MembersThatComeAlmostAtOnceAreTogether) {
    // 10 us are more than the first member needs to begin and little of what the whole takes.
    Repeats repeats(TestMachine::hgx(8).build(), Algorithm::kRing, Recall::kBesideKernels);
    const auto first = repeats.call(of(1024 * kMiB), microseconds(10));
    const auto again = repeats.call(of(1024 * kMiB), microseconds(15));
    EXPECT_LT(again.events, 100U);
    EXPECT_NEAR(relative(again.time, first.time), 1, 0.001);
    EXPECT_LT(repeats.call(of(1024 * kMiB)).events, 100U);
}

TEST(CollectiveMemo, ARootDoesNotWaitForWhoComesLast) {
    const auto broadcast = of(16861 * kMiB / 1024, CollectiveKind::kBroadcast);
    const auto calls = [&](Recall recall) {
        Repeats repeats(TestMachine::hgx(3).build(), Algorithm::kRing, recall);
        std::vector<Repeats::Taken> taken;
        for (const std::uint64_t late : {50U, 1U, 50U, 50U, 1U, 60U, 5000U})
            taken.push_back(repeats.call(broadcast, microseconds(late)));
        return taken;
    };
    const auto every = calls(Recall::kNever);
    const auto recalled = calls(Recall::kBesideKernels);
    for (std::size_t i = 0; i < every.size(); ++i) {
        EXPECT_NEAR(recalled[i].bytes / every[i].bytes, 1, 0.01) << i;
        EXPECT_NEAR(relative(recalled[i].time, every[i].time), 1, 0.01) << i;
    }
}

TEST(RecordedCollective, SuitsWhoseMembersCameTheSameWay) {
    RecordedCollective run;
    run.told = {{microseconds(1000), 1, 0, 0}, {microseconds(1100), 0, 0, 0}};
    EXPECT_EQ(run.first_done(), microseconds(1000));
    EXPECT_EQ(run.ignored(), microseconds(5));
    const Time us = microseconds(1);
    EXPECT_TRUE(run.suits({false, us * 4, us * 4}));
    EXPECT_FALSE(run.suits({false, us * 10, us * 10}));
    EXPECT_FALSE(run.suits({true, us * 4, us * 4}));
    run.joining = {true, us * 1600, us * 1500};
    EXPECT_TRUE(run.suits({true, us * 3000, us * 3000}));
    EXPECT_FALSE(run.suits({true, us * 3000, us * 1050}));
    run.joining.alone = us * 1050;
    EXPECT_FALSE(run.suits({true, us * 3000, us * 3000}));
}

RC_GTEST_PROP(RecallProperty, CallsTakeTheSameTimeWithIt, ()) {
    const auto machines = *rc::gen::inRange<std::uint32_t>(1, 4);
    const auto gpus = *rc::gen::inRange<std::uint32_t>(2, 5);
    const Topology topology =
        machines == 1 ? TestMachine::hgx(gpus).build() : TestMachine::cluster(machines, gpus);
    const auto algorithm = *rc::gen::element(
        Algorithm::kRing, Algorithm::kTree,
        machines == 1 ? Algorithm::kInSwitch : Algorithm::kInSwitchTree);
    const auto kind = *rc::gen::element(
        CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
        CollectiveKind::kBroadcast, CollectiveKind::kAllToAll);
    const CollectiveOperation operation =
        of(*rc::gen::inRange<std::uint64_t>(1024, 32 * kMiB / 1024) * 1024, kind);
    std::vector<Time> late;
    for (int i = 0; i < 3; ++i)
        late.emplace_back(*rc::gen::element<std::uint64_t>(0, 1, 50, 5000) * 1'000'000);
    const auto calls = [&](bool remember) {
        Repeats repeats(topology, algorithm, remember ? Recall::kBesideKernels : Recall::kNever);
        std::vector<Repeats::Taken> taken;
        for (const Time distance : late)
            taken.push_back(repeats.call(operation, distance));
        return taken;
    };
    const auto exact = calls(false);
    const auto recalled = calls(true);
    for (std::size_t i = 0; i < late.size(); ++i) {
        RC_LOG() << enum_name(algorithm) << " " << to_string(kind) << " call " << i << ", late by "
                 << to_microseconds(late[i]) << ": " << to_microseconds(exact[i].time) << " and "
                 << to_microseconds(recalled[i].time) << " us, " << exact[i].bytes << " and "
                 << recalled[i].bytes << " bytes" << std::endl;
        // In the switch members poll: when the last one comes within a round makes a difference.
        const double apart = std::abs(to_seconds(recalled[i].time) - to_seconds(exact[i].time));
        RC_ASSERT(apart < std::max(1e-6, 0.02 * to_seconds(exact[i].time)));
        RC_ASSERT(std::abs(recalled[i].bytes / exact[i].bytes - 1) < 0.01);
    }
}

}  // namespace
}  // namespace switchfold::collective_memo_test
