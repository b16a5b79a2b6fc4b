// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "interconnect/fault_injector.h"
#include "models/collectives/in_switch/in_switch_steps.h"
#include "models/tests/reducing_machines.h"
#include "models/tests/test_machine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace switchfold::in_switch_test {
namespace {

CollectivePolicy in_switch(InSwitchMode mode, bool registered = true) {
    CollectivePolicy policy{Algorithm::kInSwitch, Protocol::kAuto, 0, registered};
    policy.mode = mode;
    return policy;
}

CollectiveOperation all_reduce(std::uint64_t bytes, Datatype type = Datatype::kFloat32) {
    CollectiveOperation operation;
    operation.bytes = Bytes(bytes);
    operation.datatype = type;
    return operation;
}

double microseconds_of(const CollectiveRecord& record) {
    return to_microseconds(record.end - record.start);
}

RC_GTEST_PROP(InSwitchProperty, EveryTableModeAndFaultGivesTheRightSum, ()) {
    ReductionUnitParams unit = random_unit();
    const InSwitchMode mode =
        *rc::gen::element(InSwitchMode::kPull, InSwitchMode::kPush, InSwitchMode::kCommand);
    const auto type =
        *rc::gen::element(Datatype::kFloat32, Datatype::kFloat16, Datatype::kBfloat16);
    const std::uint64_t bytes = *rc::gen::inRange<std::uint64_t>(1, 60'000) * size_of(type).count();
    CollectiveParams params = TestMachine::params();
    params.transfer_unit = Bytes(std::uint64_t{128} << *rc::gen::inRange(0U, 6U));
    const Topology topology = machine_with(unit, *rc::gen::arbitrary<bool>());
    TestMachine machine(topology, params, in_switch(mode, *rc::gen::arbitrary<bool>()), 1);
    const FaultInjector injector(machine.fabric, some_fault(topology), 7);
    const CollectiveRecord record = machine.run(all_reduce(bytes, type));
    RC_ASSERT(machine.ended == machine.fabric.gpus());
    RC_ASSERT(machine.engine->wrong_results().empty());
    RC_ASSERT(machine.fabric.values().live() == 0U);
    RC_ASSERT((record.fallback == Fallback::kNone) == machine.engine->notes().empty());
    RC_ASSERT(
        (record.fallback == Fallback::kNone) == (record.choice.algorithm == Algorithm::kInSwitch));
    for (const auto& link : machine.fabric.links())
        RC_ASSERT(
            link->outstanding(VirtualChannel::kRequest) + link->outstanding(VirtualChannel::kDown) +
                link->outstanding(VirtualChannel::kResponse) ==
            0U);
}

/// Payload bytes on the links whose name contains `words`.
std::uint64_t payload_of(const TestMachine& machine, const std::string& words) {
    std::uint64_t bytes = 0;
    for (const auto& link : machine.fabric.links())
        if (std::string(link->name()).find(words) != std::string::npos)
            bytes += link->statistics().payload_bytes;
    return bytes;
}

TEST(Command, TheSumsDoNotPassThroughTheHeads) {
    constexpr std::uint64_t kSize = 8ULL << 20U;
    TestMachine machine(
        TestMachine::hgx(8).build(), TestMachine::params(), in_switch(InSwitchMode::kCommand));
    machine.run(all_reduce(kSize));
    // Pulls send 9/8 of the buffer each way: sums also come to their head and leave it again.
    EXPECT_EQ(payload_of(machine, "gpu3_to_"), kSize);
    EXPECT_EQ(payload_of(machine, "_to_gpu3"), kSize);
}

TEST(Push, SendsEveryByteOnceAndGetsEverySumOnce) {
    constexpr std::uint64_t kSize = 8ULL << 20U;
    TestMachine machine(
        TestMachine::hgx(8).build(), TestMachine::params(), in_switch(InSwitchMode::kPush));
    machine.run(all_reduce(kSize));
    EXPECT_EQ(payload_of(machine, "gpu3_to_"), kSize);
    EXPECT_EQ(payload_of(machine, "_to_gpu3"), kSize);
    EXPECT_EQ(machine.ports[3]->bytes_read, kSize);
    EXPECT_EQ(machine.ports[3]->bytes_written, 0U);
}

TEST(InSwitch, SmallTablesStallAndMoreEntriesAreNeverSlower) {
    const auto run = [](InSwitchMode mode, std::uint32_t entries) {
        SwitchedTopology topology = TestMachine::hgx(8);
        topology.node.reduction->entries = entries;
        topology.node.reduction->timeout = Time(0);
        CollectiveParams params = TestMachine::params();
        params.transfer_unit = Bytes(512);
        TestMachine machine(topology.build(), params, in_switch(mode));
        // The size is large enough for rates to dominate: few entries also spread out the burst of
        // the first requests, which saves a pull about 2 us at any size.
        return microseconds_of(machine.run(all_reduce(16ULL << 20U)));
    };
    for (const InSwitchMode mode : {InSwitchMode::kPull, InSwitchMode::kPush}) {
        const double smallest = run(mode, 1);
        double before = smallest;
        for (const std::uint32_t entries : {4U, 16U, 64U, 256U, 1024U}) {
            const double us = run(mode, entries);
            EXPECT_LE(us, before * 1.05) << entries;
            before = us;
        }
        EXPECT_GT(smallest, 1.5 * before);
    }
}

TEST(InSwitch, HalvingTheTransferUnitConverges) {
    for (const InSwitchMode mode : {InSwitchMode::kPull, InSwitchMode::kPush})
        for (const bool registered : {false, true})
            for (const std::uint64_t size : {1ULL << 18U, 1ULL << 22U, 1ULL << 26U}) {
                const auto time = [&](std::uint64_t unit) {
                    CollectiveParams params = TestMachine::params();
                    params.transfer_unit = Bytes(unit);
                    TestMachine machine(
                        TestMachine::hgx(8).build(), params, in_switch(mode, registered));
                    return microseconds_of(machine.run(all_reduce(size)));
                };
                EXPECT_NEAR(time(2048) / time(4096), 1.0, 0.02)
                    << size << " " << static_cast<int>(mode) << " " << registered;
            }
}

TEST(Push, TrainsOfLinesTakeTheTimeOfLines) {
    // A transfer unit of one line prevents trains.
    struct Timed {
        double us;
        std::uint64_t events;
    };
    const auto run = [](const Topology& topology, bool registered, std::uint64_t size, Bytes unit) {
        CollectiveParams params = TestMachine::params();
        params.transfer_unit = unit;
        TestMachine machine(topology, params, in_switch(InSwitchMode::kPush, registered));
        const double us = microseconds_of(machine.run(all_reduce(size)));
        return Timed{us, machine.simulation.scheduler().events()};
    };
    for (const std::uint32_t gpus : {6U, 8U, 24U})
        for (const bool registered : {false, true})
            for (const std::uint64_t size : {10'000'016ULL, 1ULL << 25U}) {
                const Topology topology = TestMachine::hgx(gpus).build();
                const Timed trains = run(topology, registered, size, kibibytes(4));
                const Timed lines = run(topology, registered, size, Bytes(512));
                EXPECT_NEAR(trains.us / lines.us, 1.0, 0.005)
                    << gpus << " " << registered << " " << size;
                EXPECT_LT(4 * trains.events, lines.events) << gpus << " " << registered;
            }
    // If tables can fill up, lines are sent alone, whatever the transfer unit.
    SwitchedTopology small = TestMachine::hgx(8);
    small.node.reduction->entries = 16;
    const Timed alone = run(small.build(), true, 1ULL << 23U, kibibytes(4));
    const Timed lines = run(small.build(), true, 1ULL << 23U, Bytes(512));
    EXPECT_EQ(alone.us, lines.us);
    EXPECT_EQ(alone.events, lines.events);
}

TEST(InSwitch, HalvingConvergesBelowWhatAWarpMovesAtOnceToo) {
    // Packets are no larger than what a warp moves at once, so HalvingTheTransferUnitConverges
    // compares equal packets.
    const auto time = [](InSwitchMode mode, bool registered, std::uint64_t size, std::uint64_t u) {
        CollectiveParams params = TestMachine::params();
        params.transfer_unit = Bytes(u);
        TestMachine machine(TestMachine::hgx(8).build(), params, in_switch(mode, registered));
        return microseconds_of(machine.run(all_reduce(size)));
    };
    for (const bool registered : {false, true})
        for (const std::uint64_t size : {1ULL << 18U, 1ULL << 22U, 1ULL << 26U}) {
            const InSwitchMode pull = InSwitchMode::kPull;
            const InSwitchMode push = InSwitchMode::kPush;
            const double whole = time(pull, registered, size, 2048);
            const double half = time(pull, registered, size, 1024);
            EXPECT_NEAR(half / whole, 1.0, 0.03) << size;
            EXPECT_NEAR(time(pull, registered, size, 512) / half, 1.0, 0.02) << size;
            EXPECT_NEAR(
                time(push, registered, size, 256) / time(push, registered, size, 512), 1.0, 0.02)
                << size;
        }
}

TEST(InSwitch, TreesThatCrossATrunkBothWaysNeverWaitForEachOther) {
    // Each board's switch is the root of one tree, so requests and sums of both trees cross the
    // trunk in both directions. The trunk's buffers hold one packet.
    for (const InSwitchMode mode : {InSwitchMode::kPull, InSwitchMode::kPush}) {
        BoardsTopology boards;
        boards.gpus_per_board = 2;
        boards.switches_per_board = 1;
        boards.trunk_lanes = 1;
        boards.link.buffer_per_lane = boards.trunk_link.buffer_per_lane = Bytes(256);
        boards.node.multicast = true;
        boards.node.reduction = ReductionUnitParams{};
        TestMachine machine(boards.build(), TestMachine::params(), in_switch(mode), 1);
        machine.run(all_reduce(64 << 10U));
        EXPECT_EQ(machine.ended, 4U) << static_cast<int>(mode);
        EXPECT_TRUE(machine.engine->wrong_results().empty());
    }
}

TEST(InSwitch, AGroupThatFindsNoRoomRunsAsARing) {
    SwitchedTopology topology = TestMachine::hgx(8);
    topology.node.reduction->when_full = WhenFull::kRefuse;
    topology.node.reduction->entries = 256;
    topology.node.reduction->group_entries = 200;
    TestMachine machine(topology.build(), TestMachine::params(), in_switch(InSwitchMode::kPull), 1);
    // Two concurrent all-reduces, but the tables hold only one.
    CollectiveOperation second = all_reduce(1 << 20U);
    second.sequence = 1;
    struct Ignore : CollectiveListener {
        void on_collective_end(std::uint32_t) override {}
    } ignore;
    for (std::uint32_t rank = 0; rank < 8; ++rank)
        machine.engine->start(rank, rank, second, 0, ignore);
    machine.run(all_reduce(1 << 20U));
    ASSERT_EQ(machine.engine->records().size(), 2U);
    std::uint32_t rings = 0;
    for (const CollectiveRecord& record : machine.engine->records())
        if (record.fallback == Fallback::kRefused) {
            ++rings;
            EXPECT_EQ(record.choice.algorithm, Algorithm::kRing);
        }
    EXPECT_EQ(rings, 1U);
    ASSERT_EQ(machine.engine->notes().size(), 1U);
    EXPECT_NE(
        machine.engine->notes()[0].find("switch0 has no reduction entries"), std::string::npos);
    EXPECT_EQ(machine.fabric.switches()[0]->statistics().refused_groups, 1U);
}

TEST(InSwitch, JobsOfOtherGpusShareNothingAndThoseOfTheSameShareLinksAndTables) {
    // Time of a job on four GPUs: alone, with a job on the other four, or with another job on the
    // same four.
    const auto time = [](InSwitchMode mode, std::optional<std::vector<std::uint32_t>> beside) {
        const std::vector<std::uint32_t> own{0, 1, 2, 3};
        TestMachine machine(
            TestMachine::hgx(8).build(), TestMachine::params(), in_switch(mode), 0, own);
        struct Ignore : CollectiveListener {
            void on_collective_end(std::uint32_t) override {}
        } ignore;
        std::vector<RankPort*> ports;
        for (const auto& port : machine.ports)
            ports.push_back(port.get());
        CollectiveEngine other(
            "other", machine.fabric, TestMachine::params(), in_switch(mode), ports,
            {Group{"other", beside.value_or(own)}});
        if (beside)
            for (const std::uint32_t rank : *beside)
                other.start(rank, rank, all_reduce(16 << 20U), 0, ignore);
        return microseconds_of(machine.run(all_reduce(16 << 20U)));
    };
    for (const InSwitchMode mode : {InSwitchMode::kPull, InSwitchMode::kPush}) {
        const double alone = time(mode, std::nullopt);
        EXPECT_DOUBLE_EQ(time(mode, std::vector<std::uint32_t>{4, 5, 6, 7}), alone);
        const double shared = time(mode, std::vector<std::uint32_t>{0, 1, 2, 3});
        EXPECT_GT(shared, 1.6 * alone);
        EXPECT_LT(shared, 2.1 * alone);
    }
}

TEST(InSwitch, AUnitThatFailsOnTheWayCostsTheRingOnTop) {
    const auto run = [](std::vector<FaultParams> faults) {
        TestMachine machine(
            TestMachine::hgx(8).build(), TestMachine::params(),
            in_switch(InSwitchMode::kPull, false), 1);
        const FaultInjector injector(machine.fabric, std::move(faults), 1);
        const CollectiveRecord record = machine.run(all_reduce(8 << 20U));
        EXPECT_TRUE(machine.engine->wrong_results().empty());
        for (const std::string& note : machine.engine->notes())
            EXPECT_NE(note.find("timed out, switch1 has failed"), std::string::npos) << note;
        EXPECT_EQ(machine.engine->notes().size(), record.fallback == Fallback::kNone ? 0U : 1U);
        return record;
    };
    const CollectiveRecord good = run({});
    const CollectiveRecord bad = run({ReductionTimeoutFault{"switch1", microseconds(30)}});
    EXPECT_EQ(good.fallback, Fallback::kNone);
    EXPECT_EQ(bad.fallback, Fallback::kReductionTimeout);
    EXPECT_EQ(bad.choice.algorithm, Algorithm::kRing);
    EXPECT_GT(microseconds_of(bad), microseconds_of(good));
}

TEST(Faults, ALinkDownFromTheStartIsRoutedAround) {
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kInSwitch}) {
        const auto run = [&](std::vector<FaultParams> faults) {
            TestMachine machine(TestMachine::hgx(8).build(), TestMachine::params(), {algorithm}, 1);
            const FaultInjector injector(machine.fabric, std::move(faults), 1);
            const double us = microseconds_of(machine.run(all_reduce(32 << 20U)));
            EXPECT_TRUE(machine.engine->wrong_results().empty());
            EXPECT_EQ(machine.engine->records()[0].fallback, Fallback::kNone);
            std::uint64_t carried = 0;
            for (const auto& link : machine.fabric.links())
                if (std::string(link->name()).find("gpu2_to_switch1") != std::string::npos)
                    carried = link->statistics().wire_bytes;
            return std::pair{us, carried};
        };
        const auto good = run({});
        const auto bad = run({LinkDownFault{"gpu2_to_switch1", Time(0)}});
        EXPECT_GT(good.second, 0U);
        EXPECT_EQ(bad.second, 0U);
        EXPECT_GT(bad.first, good.first * 1.1);
    }
}

TEST(Faults, AGpuWithoutAnyLinkEndsTheRunAndNamesItsLinks) {
    TestMachine machine(TestMachine::hgx(4).build(), TestMachine::params(), {Algorithm::kRing});
    std::vector<FaultParams> faults;
    for (int s = 0; s < 4; ++s)
        faults.push_back(LinkDownFault{fmt::format("switch{}_to_gpu1", s), microseconds(20)});
    const FaultInjector injector(machine.fabric, faults, 1);
    try {
        machine.run(all_reduce(64 << 20U));
        FAIL();
    } catch (const SimulationError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("no path from"), std::string::npos);
        EXPECT_NE(text.find("gpu1_to_switch0"), std::string::npos);
    }
}

TEST(Faults, SlowAndNoisyLinksCostTimeAndCountReplays) {
    const auto run = [](std::vector<FaultParams> faults) {
        TestMachine machine(
            TestMachine::hgx(4).build(), TestMachine::params(), {Algorithm::kRing}, 1);
        const FaultInjector injector(machine.fabric, std::move(faults), 3);
        const double us = microseconds_of(machine.run(all_reduce(16 << 20U)));
        EXPECT_TRUE(machine.engine->wrong_results().empty());
        std::uint64_t replays = 0;
        for (const auto& link : machine.fabric.links())
            replays += link->statistics().replays;
        return std::pair{us, replays};
    };
    const auto good = run({});
    EXPECT_EQ(good.second, 0U);
    const auto slow = run({LinkDegradedFault{"gpu0_to_switch0", 250'000, Time(0)}});
    EXPECT_GT(slow.first, good.first * 1.5);
    const auto noisy = run({BitErrorsFault{"gpu0_to_switch0", 1e-6, Time(0)}});
    EXPECT_GT(noisy.first, good.first);
    EXPECT_GT(noisy.second, 0U);
    // Replays follow from the bit error rate and 5/18 of 2 * 3/4 * 16 MiB each way, with headers.
    const double bits = 2 * 5.0 / 18 * 1.5 * (16 << 20U) * 8 * 144 / 128;
    EXPECT_NEAR(static_cast<double>(noisy.second), bits * 1e-6, 4 * std::sqrt(bits * 1e-6));
    const auto again = run({BitErrorsFault{"gpu0_to_switch0", 1e-6, Time(0)}});
    EXPECT_EQ(again, noisy);
}

TEST(Faults, ComponentsThatAreNotThereAreNamed) {
    const Topology topology = TestMachine::hgx(2).build();
    EXPECT_TRUE(check_faults(topology, {LinkDownFault{"switch3_to_gpu1", Time(0)}}).empty());
    const auto problems = check_faults(
        topology,
        {LinkDownFault{"gpu0_to_switch9", Time(0)}, ReductionTimeoutFault{"gpu0", Time(0)}});
    ASSERT_EQ(problems.size(), 2U);
    EXPECT_EQ(
        problems[0].second,
        "names gpu0_to_switch9, which is not a link of this machine; expected a link such as "
        "gpu0_to_switch0");
    EXPECT_EQ(
        problems[1].second,
        "names gpu0, which is not a switch that can reduce; expected one such as switch0");
}

TEST(InSwitchShape, CutsAndWindowsAreNccls) {
    const CollectiveParams p = TestMachine::params();
    // 2 MiB, 16 channels, 8 heads: one loop of 16 KiB per head.
    const InSwitchShape two = in_switch_shape(p, 8, 16, 2 << 20U, false);
    EXPECT_EQ(two.chunk, 16'384U);
    EXPECT_EQ(two.pieces.loops(0), 1U);
    EXPECT_EQ(two.pieces.working_heads(0, 0), 8U);
    EXPECT_EQ(two.scatter_workers, 7U);
    EXPECT_EQ(two.gather_workers, 7U);
    EXPECT_EQ(two.reduce_window, 4U * 2048);
    // 512 KiB: chunks of the last loop are multiples of 16 KiB, so only two heads have work.
    const InSwitchShape half = in_switch_shape(p, 8, 16, 512 << 10U, false);
    EXPECT_EQ(half.pieces.working_heads(3, 0), 2U);
    EXPECT_EQ(in_switch_shape(p, 8, 16, 1ULL << 30U, false).chunk, 131'072U);
    EXPECT_EQ(in_switch_shape(p, 4, 16, 1ULL << 30U, false).reduce_window, 6U * 2048);
    EXPECT_EQ(in_switch_shape(p, 8, 4, 1ULL << 30U, true).reduce_window, 17U * 2048);
}

TEST(InSwitchShape, PiecesCoverEveryChannelOnce) {
    for (const std::uint64_t bytes : {16ULL, 100'000ULL, 3'000'016ULL, 20'000'000ULL})
        for (const std::uint32_t ranks : {2U, 5U, 8U})
            for (const bool registered : {false, true}) {
                const InSwitchShape shape =
                    in_switch_shape(TestMachine::params(), ranks, 3, bytes, registered);
                for (std::uint32_t c = 0; c < 3; ++c) {
                    const Part part = part_of_channel(bytes, 3, c, kGrain);
                    std::uint64_t next = part.begin;
                    for (std::uint64_t loop = 0; loop < shape.pieces.loops(c); ++loop) {
                        std::uint32_t heads = 0;
                        for (std::uint32_t head = 0; head < ranks; ++head) {
                            const Part piece = shape.pieces.piece(c, loop, head);
                            EXPECT_EQ(piece.begin, next);
                            next += piece.bytes;
                            heads += piece.bytes > 0 ? 1 : 0;
                        }
                        EXPECT_EQ(heads, shape.pieces.working_heads(c, loop));
                    }
                    EXPECT_EQ(next, part.begin + part.bytes);
                }
            }
}

TEST(Poll, SeesWhatHappenedBeforeItsMiddle) {
    const Time round = nanoseconds(100);
    EXPECT_EQ(poll_until(nanoseconds(10), round, nanoseconds(5)).answered, nanoseconds(110));
    EXPECT_EQ(poll_until(nanoseconds(10), round, nanoseconds(60)).answered, nanoseconds(110));
    EXPECT_EQ(poll_until(nanoseconds(10), round, nanoseconds(61)).answered, nanoseconds(210));
    EXPECT_EQ(poll_until(nanoseconds(10), round, nanoseconds(161)).answered, nanoseconds(310));
}

/// Klenk et al., ISCA 2020, on 16 GPUs and one switch: up to 2x for large and 18x for small
/// messages, against a ring. Links and switch as in configs/systems/klenk_16.json.
class Klenk : public ::testing::TestWithParam<InSwitchMode> {
protected:
    static double us(const CollectivePolicy& policy, std::uint64_t bytes) {
        SwitchedTopology t;
        t.gpus = 16;
        t.lanes_to_switch = {6};
        t.link.latency = nanoseconds(250);
        t.link.buffer_per_lane = kibibytes(128);
        t.link.format.multicast_ack_flits = 0;
        t.link.format.reduce_request_flits = 1;
        t.node.multicast = true;
        t.node.reduction = ReductionUnitParams{};
        t.node.reduction->adder_rate = gigabytes_per_second(50);
        t.node.reduction->timeout = Time(0);
        CollectiveParams p;
        p.transfer_unit = kibibytes(2);
        p.launch_latency = Time(0);
        p.channels = p.in_switch_channels = 8;
        p.in_switch_chunk = kibibytes(64);
        p.in_switch_copy_round = p.push_poll = nanoseconds(500);
        p.in_switch_sync = Time(0);  // simple.slice_overhead is all
        p.ll.hop_overhead = p.ll128.hop_overhead = nanoseconds(500);
        p.ll.block_rate = gigabytes_per_second(6);
        p.ll128.block_rate = gigabytes_per_second(12);
        p.simple.hop_overhead = nanoseconds(1500);
        p.simple.slice_overhead = nanoseconds(500);
        p.simple.block_rate = p.in_switch_copy_rate = gigabytes_per_second(30);
        TestMachine machine(t.build(), p, policy);
        return microseconds_of(machine.run(all_reduce(bytes)));
    }
    static double gain(InSwitchMode mode, std::uint64_t bytes) {
        return us({Algorithm::kRing}, bytes) / us(in_switch(mode), bytes);
    }
};

TEST_P(Klenk, SmallMessagesGainWellOverTen) {
    const double gain = Klenk::gain(GetParam(), 2048);
    EXPECT_GT(gain, GetParam() == InSwitchMode::kPush ? 12.0 : 4.0);
    EXPECT_LT(gain, 25.0);
}

TEST_P(Klenk, LargeMessagesGainUpToTwo) {
    const double gain = Klenk::gain(GetParam(), 64ULL << 20U);
    EXPECT_GT(gain, 1.5);
    EXPECT_LT(gain, 2.2);
}

INSTANTIATE_TEST_SUITE_P(Modes, Klenk, ::testing::Values(InSwitchMode::kPull, InSwitchMode::kPush));

}  // namespace
}  // namespace switchfold::in_switch_test
