// SPDX-License-Identifier: Apache-2.0
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>

namespace switchfold::cost_model_test {
namespace {

MachineView machine(std::uint32_t ranks, double ring_GBps, bool reduces) {
    MachineView view;
    view.ranks = ranks;
    view.ring_bandwidth = Bandwidth(static_cast<std::uint64_t>(ring_GBps * 1e9));
    view.ring_line_rate = Bandwidth(static_cast<std::uint64_t>(ring_GBps * 1e9 / 0.775));
    view.in_switch_bandwidth = reduces ? view.ring_bandwidth : Bandwidth(0);
    return view;
}

CollectiveParams params(TunerGeneration tuner) {
    CollectiveParams p = TestMachine::params();
    p.tuner = tuner;
    return p;
}

CollectiveConfig choice(const CollectiveParams& p, const MachineView& view, Bytes bytes) {
    return choose_collective(p, {}, view, {CollectiveKind::kAllReduce, bytes});
}

// Choices of NCCL 2.2x on real machines (hardware.md A7): on 8 H200, ring LL up to 1 MiB and NVLS
// from 2 MiB; on 4 H100 without multicast, by the times of LL, LL128 and Simple.
TEST(CostModel, EightH200TakeTheRingWhenSmallAndTheSwitchWhenLarge) {
    const CollectiveParams p = params(TunerGeneration::kHopper);
    const MachineView view = machine(8, 370, true);
    EXPECT_EQ(choice(p, view, mebibytes(1)).algorithm, Algorithm::kRing);
    EXPECT_EQ(choice(p, view, mebibytes(1)).protocol, Protocol::kLl);
    EXPECT_EQ(choice(p, view, mebibytes(2)).algorithm, Algorithm::kInSwitch);
    EXPECT_EQ(choice(p, view, mebibytes(8192)).algorithm, Algorithm::kInSwitch);
}

// Sweeps in stas00/ml-engineering: NCCL chose rings on H200 with 4 GPUs, on B200 with 4 and 5.
TEST(CostModel, FewGpusStayWithTheRing) {
    const CollectiveParams hopper = params(TunerGeneration::kHopper);
    EXPECT_EQ(choice(hopper, machine(4, 370, true), mebibytes(8192)).algorithm, Algorithm::kRing);
    EXPECT_EQ(
        choice(hopper, machine(5, 370, true), mebibytes(8192)).algorithm, Algorithm::kInSwitch);
    const CollectiveParams blackwell = params(TunerGeneration::kBlackwell);
    EXPECT_EQ(
        choice(blackwell, machine(5, 700, true), mebibytes(8192)).algorithm, Algorithm::kRing);
    EXPECT_EQ(
        choice(blackwell, machine(8, 700, true), mebibytes(8192)).algorithm, Algorithm::kInSwitch);
}

// 2.18.3 on 8 H800 goes from LL to Simple between 512 KiB and 1 MiB of a broadcast, whose channels
// all take one order (h800_8g_nf5688m7_bcast): one hop counts. Over machines with several network
// interfaces each channel takes an order of its own, and every hop counts.
TEST(CostModel, ChainsWithEqualChannelsCountAsOneHop) {
    CollectiveParams p = params(TunerGeneration::kHopper);
    p.channels = 16;
    MachineView view = machine(8, 160, false);
    const auto protocol = [&](Bytes bytes) {
        return choose_collective(p, {}, view, {CollectiveKind::kBroadcast, bytes}).protocol;
    };
    EXPECT_EQ(protocol(kibibytes(512)), Protocol::kLl);
    EXPECT_EQ(protocol(mebibytes(1)), Protocol::kSimple);
    view.ranks = 16;
    view.machines = 2;
    view.per_machine = 8;
    view.rails = 1;
    view.rail_bandwidth = view.inside_bandwidth = view.ring_bandwidth;
    EXPECT_EQ(protocol(mebibytes(16)), Protocol::kSimple);
    view.rails = 8;
    EXPECT_EQ(protocol(mebibytes(16)), Protocol::kLl128);
}

TEST(CostModel, ProtocolsFollowEachOtherWithSize) {
    const CollectiveParams p = params(TunerGeneration::kHopper);
    const MachineView view = machine(4, 365, false);
    EXPECT_EQ(choice(p, view, kibibytes(1)).protocol, Protocol::kLl);
    EXPECT_EQ(choice(p, view, mebibytes(2)).protocol, Protocol::kLl);
    EXPECT_EQ(choice(p, view, mebibytes(4)).protocol, Protocol::kLl128);
    EXPECT_EQ(choice(p, view, mebibytes(64)).protocol, Protocol::kSimple);
}

// The search finds 12 rings of 30 GB/s on 18 links of 20.6 (NVIDIA/nccl#1367). Counted as 371 GB/s,
// Simple would tie with LL for two H100's all-gather of 2 MiB, which takes 16.6 us by LL
// (nccl_collectives.csv).
TEST(CostModel, RingsHaveSpeedsOfTheSearch) {
    const CollectiveParams p = params(TunerGeneration::kHopper);
    MachineView view = machine(2, 365, false);
    view.ring_line_rate = Bandwidth(18 * std::uint64_t{26'562'500'000});
    const auto protocol = [&](Bytes bytes) {
        return choose_collective(p, {}, view, {CollectiveKind::kAllGather, bytes}).protocol;
    };
    EXPECT_EQ(protocol(mebibytes(2)), Protocol::kLl);
    EXPECT_EQ(protocol(mebibytes(4)), Protocol::kSimple);
}

// Before 2.28 NCCL takes Blackwell's limits for twice Hopper's. Four GB200 under 2.25.1 run LL128
// at 8 and 16 MiB (nccl_issues.csv, gb200_4g_azure_ring), four B200 under 2.29.2 go from LL to
// Simple in between (nccl_collectives.csv).
TEST(CostModel, EarlierVersionsTakeLl128OnBlackwells) {
    CollectiveParams p = params(TunerGeneration::kBlackwell);
    p.channels = 32;
    MachineView view = machine(4, 700, false);
    view.ring_line_rate = gigabytes_per_second(956);
    const auto protocol = [&](std::uint32_t version, Bytes bytes) {
        p.nccl_version = version;
        return choice(p, view, bytes).protocol;
    };
    EXPECT_EQ(protocol(22'501, mebibytes(4)), Protocol::kLl);
    EXPECT_EQ(protocol(22'501, mebibytes(8)), Protocol::kLl128);
    EXPECT_EQ(protocol(22'501, mebibytes(16)), Protocol::kLl128);
    EXPECT_EQ(protocol(22'501, mebibytes(32)), Protocol::kSimple);
    EXPECT_EQ(protocol(22'807, mebibytes(4)), Protocol::kLl);
    EXPECT_EQ(protocol(22'807, mebibytes(16)), Protocol::kLl128);
    EXPECT_EQ(protocol(22'807, mebibytes(32)), Protocol::kSimple);
    EXPECT_EQ(protocol(22'902, mebibytes(4)), Protocol::kLl);
    EXPECT_EQ(protocol(22'902, mebibytes(8)), Protocol::kSimple);
}

// enqueue.cc: 8 bytes a thread and rank, then halves, 64 threads at the least, of which three warps
// run. Times of rings of 8 GPUs rise from 8 to 64 KiB, of 2 from 2 to 16 KiB, and are flat on both
// sides (nccl_collectives.csv).
TEST(CostModel, TheLastBlockOfASmallRingHasFewerThreads) {
    const CollectiveParams p = params(TunerGeneration::kHopper);
    const MachineView eight = machine(8, 365, false);
    EXPECT_EQ(choice(p, eight, kibibytes(32)).threads, 512U);
    EXPECT_EQ(choice(p, eight, kibibytes(16)).threads, 256U);
    EXPECT_EQ(choice(p, eight, kibibytes(8)).threads, 128U);
    EXPECT_EQ(choice(p, eight, kibibytes(4)).threads, 96U);
    EXPECT_EQ(choice(p, eight, Bytes(8)).threads, 96U);
    EXPECT_EQ(choice(p, machine(2, 365, false), kibibytes(8)).threads, 512U);
    EXPECT_EQ(choice(p, machine(2, 365, false), kibibytes(4)).threads, 256U);
    CollectiveParams two_warps = p;
    two_warps.ll.threads = 64;
    EXPECT_EQ(choice(two_warps, eight, Bytes(8)).threads, 64U);
    EXPECT_DOUBLE_EQ(missing_threads(p, choice(p, eight, kibibytes(16))), 0.5);
    EXPECT_DOUBLE_EQ(missing_threads(p, choice(p, eight, mebibytes(64))), 0);
}

MachineView two_dgx_a100() {
    MachineView view = machine(16, 198, false);
    view.machines = 2;
    view.per_machine = 8;
    view.rails = 8;
    view.rail_bandwidth = view.ring_bandwidth;
    view.inside_bandwidth = gigabytes_per_second(240);
    return view;
}

// NCCL limits protocols by the channels of its search, of which it makes twice as many blocks. Two
// DGX A100 reach 177 GB/s of bus bandwidth at 1 GiB (nccl_collectives.csv, sophia), which LL128's
// 20 GB/s a channel do not explain.
TEST(CostModel, TwoMachinesOfA100TakeTheRingInSimpleWhenLarge) {
    CollectiveParams p = params(TunerGeneration::kAmpere);
    p.host_processor = HostProcessor::kAmd;
    const MachineView view = two_dgx_a100();
    for (const std::uint64_t large : {256ULL, 1024ULL, 4096ULL}) {
        EXPECT_EQ(choice(p, view, mebibytes(large)).algorithm, Algorithm::kRing);
        EXPECT_EQ(choice(p, view, mebibytes(large)).protocol, Protocol::kSimple);
    }
    EXPECT_EQ(choice(p, view, mebibytes(1)).algorithm, Algorithm::kTree);
    EXPECT_EQ(choice(p, view, mebibytes(1)).protocol, Protocol::kLl128);
}

// tuning.cc: across machines LL is limited by the host, whatever the GPU; on AMD hosts a ring's
// proxies count twice.
/// Between two machines a channel's tree carries twice what leaves by its rail, up to the highest
/// speed that NCCL's search lists, 48 GB/s. Where one GPU has all the traffic, 0.85 of it count.
TEST(CostModel, TreesOverTwoMachinesAreNoFasterThanTheSearchLists) {
    const CollectiveParams p = params(TunerGeneration::kHopper);
    const auto bus = [&](double rail) {
        MachineView view = machine(2, rail, false);
        view.machines = 2;
        view.per_machine = 1;
        view.rails = 1;
        view.rail_bandwidth = Bandwidth(static_cast<std::uint64_t>(rail * 1e9));
        const CollectivePolicy tree{Algorithm::kTree, Protocol::kSimple, 0, false};
        const Bytes bytes = mebibytes(65'536);
        const CollectiveConfig chosen =
            choose_collective(p, tree, view, {CollectiveKind::kAllReduce, bytes});
        return 2 * static_cast<double>(bytes.count()) / to_seconds(chosen.estimate) / 1e9;
    };
    EXPECT_NEAR(bus(12), 24 * 0.92 * 0.85, 0.02);
    EXPECT_NEAR(bus(49), 49 * 0.92 * 0.85, 0.02);
    EXPECT_NEAR(bus(40), 48 * 0.92 * 0.85, 0.02);
}

/// Logs of NCCL 2.26 on machines of eight H100 and 8 NDR NICs (nccl-tests#309) are slower at the
/// first size of NVLS trees, which 2 MiB is on four machines. Later versions count 20.9 us a hop.
TEST(CostModel, EarlierVersionsTakeTreesThroughTheSwitchSooner) {
    CollectiveParams p = params(TunerGeneration::kHopper);
    MachineView view = machine(32, 400, true);
    view.machines = 4;
    view.per_machine = 8;
    view.rails = 8;
    view.rail_bandwidth = view.ring_bandwidth;
    view.inside_bandwidth = view.ring_bandwidth;
    const auto first = [&](std::uint32_t version) {
        p.nccl_version = version;
        Bytes size = kibibytes(64);
        while (choice(p, view, size).algorithm != Algorithm::kInSwitchTree)
            size = Bytes(2 * size.count());
        return size;
    };
    EXPECT_LT(first(22'602), first(23'000));
    EXPECT_EQ(first(22'799), first(22'602));
    EXPECT_LE(first(23'000), mebibytes(64));
}

TEST(CostModel, LlEndsEarlierOnHostsOfAmd) {
    for (const TunerGeneration tuner : {TunerGeneration::kAmpere, TunerGeneration::kHopper}) {
        CollectiveParams p = params(tuner);
        const auto last_ll = [&](HostProcessor host) {
            p.host_processor = host;
            Bytes last(64);
            while (choice(p, two_dgx_a100(), Bytes(2 * last.count())).protocol == Protocol::kLl)
                last = Bytes(2 * last.count());
            return last;
        };
        EXPECT_LT(last_ll(HostProcessor::kAmd), last_ll(HostProcessor::kIntel));
    }
}

TEST(CostModel, GenerationsWithoutReducingSwitchesNeverTakeThem) {
    const CollectiveParams p = params(TunerGeneration::kAmpere);
    EXPECT_EQ(choice(p, machine(8, 235, true), mebibytes(1024)).algorithm, Algorithm::kRing);
}

TEST(CostModel, PcieHopsCostMore) {
    const CollectiveParams p = params(TunerGeneration::kAmpere);
    MachineView view = machine(4, 20, false);
    view.ring_line_rate = gigabytes_per_second(25);  // of which NCCL counts 20
    const Time nvlink = choice(p, view, kibibytes(1)).estimate;
    view.pcie = true;
    // 2(N-1) = 6 hops of 1.0 instead of 0.6 us.
    EXPECT_EQ(choice(p, view, kibibytes(1)).estimate - nvlink, nanoseconds(2400));
}

class RingTiming : public ::testing::Test {
protected:
    static Time time(
        CollectiveParams p, Protocol protocol, Bytes bytes, std::uint32_t channels = 0,
        std::uint32_t gpus = 4) {
        CollectivePolicy policy;
        policy.algorithm = Algorithm::kRing;
        policy.protocol = protocol;
        policy.channels = channels;
        return run(TestMachine::hgx(gpus), p, policy, bytes);
    }
    static Time
    run(const SwitchedTopology& topology, const CollectiveParams& p, const CollectivePolicy& policy,
        Bytes bytes, CollectiveKind kind = CollectiveKind::kAllReduce) {
        TestMachine machine(topology.build(), p, policy);
        CollectiveOperation operation;
        operation.kind = kind;
        operation.bytes = bytes;
        const CollectiveRecord record = machine.run(operation);
        return record.end - record.start;
    }
    /// What 1 us more on each link costs an all-reduce of two GPUs by one ring.
    static Time of_latency(const CollectiveParams& p, Bytes bytes) {
        const auto took = [&](Time latency) {
            SwitchedTopology topology = TestMachine::hgx(2);
            topology.link.latency = latency;
            CollectivePolicy policy;
            policy.algorithm = Algorithm::kRing;
            policy.protocol = Protocol::kSimple;
            policy.channels = 1;
            return run(topology, p, policy, bytes);
        };
        return took(nanoseconds(1200)) - took(nanoseconds(200));
    }
};

// A chunk of 175 KiB is sent in two slices, so a block pays the overhead twice in each of its seven
// steps, but for the last slice, after which nothing comes. With one channel nothing hides it.
TEST_F(RingTiming, ASliceOverheadIsPaidTwiceAStep) {
    CollectiveParams p = TestMachine::params();
    p.simple.slice_overhead = microseconds(10);
    const Bytes bytes = kibibytes(4 * 175);
    const Time before = time(p, Protocol::kSimple, bytes, 1);
    p.simple.slice_overhead = microseconds(12);
    const Time more = time(p, Protocol::kSimple, bytes, 1) - before;
    EXPECT_GE(more, microseconds(13 * 2));
    EXPECT_LE(more, microseconds(14 * 2));
}

// A ring hands a chunk over in two slices, and each of its hops takes longer; a tree and an
// exchange hand over whole chunks. Two GPUs: the ring's data make two hops.
TEST_F(RingTiming, OnlySlicedChunksTakeTheLongerHop) {
    CollectivePolicy ring;
    ring.algorithm = Algorithm::kRing;
    ring.protocol = Protocol::kSimple;
    ring.channels = 1;
    CollectivePolicy tree = ring;
    tree.algorithm = Algorithm::kTree;
    CollectivePolicy exchange = ring;
    exchange.algorithm = Algorithm::kAuto;
    const auto more = [](const CollectivePolicy& policy, CollectiveKind kind) {
        CollectiveParams p = TestMachine::params();
        const Time before = run(TestMachine::hgx(2), p, policy, kibibytes(256), kind);
        p.simple.slices_hop = microseconds(20);
        return run(TestMachine::hgx(2), p, policy, kibibytes(256), kind) - before;
    };
    EXPECT_GE(more(ring, CollectiveKind::kAllReduce), microseconds(2 * 20 - 10));
    EXPECT_LE(more(ring, CollectiveKind::kAllReduce), microseconds(2 * 20));
    EXPECT_EQ(more(tree, CollectiveKind::kAllReduce), Time());
    EXPECT_EQ(more(exchange, CollectiveKind::kSendReceive), Time());
}

// The warp that announces a slice waits for its stores; the block's others move the next slice
// meanwhile. Two GPUs, one step of two slices each way and back: an RTT more delays what is waited
// for, once a hop, but not the second slice as well.
TEST_F(RingTiming, TheNextSliceDoesNotWaitForTheFence) {
    CollectiveParams p = TestMachine::params();
    p.simple.block_rate = gigabytes_per_second(10);  // a slice takes longer than its fence
    // As for one slice: each of two sends crosses two links three times.
    EXPECT_LE(of_latency(p, kibibytes(256)), nanoseconds(2 * 2 * 3 * 1000));
}

// A copy loads and stores each byte once; each further load and store occupies the SM as long.
TEST_F(RingTiming, FurtherLoadsAndStoresOccupyTheSm) {
    CollectiveParams p = TestMachine::params();
    p.simple.hop_overhead = Time();
    p.simple.block_rate = gigabytes_per_second(10);
    const Bytes bytes = mebibytes(1);
    const auto took = [&](std::uint64_t rate) {
        p.simple.load_store_rate = gigabytes_per_second(rate);
        return to_seconds(time(p, Protocol::kSimple, bytes, 1, 2));
    };
    const double alone = took(0);
    // Two GPUs: a half is sent (2 loads and stores), added and sent back (4), and received (2).
    const double half = 0.5 * 1048576;
    EXPECT_NEAR(took(40) - alone, half * 2 / 40e9, 0.02 * half / 10e9);
    EXPECT_NEAR(took(80) - alone, half * 2 / 80e9, 0.02 * half / 10e9);
}

// What sends and what receives of an exchange's block share an SM.
TEST_F(RingTiming, TheHalvesOfABlockShareTheirSm) {
    CollectiveParams p = TestMachine::params();
    p.simple.block_rate = gigabytes_per_second(10);
    p.simple.load_store_rate = gigabytes_per_second(40);
    CollectivePolicy policy;
    policy.protocol = Protocol::kSimple;
    policy.channels = 1;
    const Time took =
        run(TestMachine::hgx(2), p, policy, mebibytes(64), CollectiveKind::kSendReceive);
    // Of a block that serves one peer 9 of a ring's 16 warps send, in 2/40 + 16/9 (1/10 - 2/40) ns
    // a byte alone, and beside those that receive 2/40 ns more.
    const double alone = 64.0 * 1048576 * (2 / 40.0 + 16 / 9.0 * (1 / 10.0 - 2 / 40.0)) * 1e-9;
    const double beside = 64.0 * 1048576 * 2 / 40e9;
    EXPECT_NEAR(to_seconds(took), alone + beside, 0.2 * beside);
}

// A chunk of 10.7 KiB is below NCCL's smallest slice of 32 KiB: one slice per step.
TEST_F(RingTiming, ASmallChunkIsOneSlice) {
    CollectiveParams p = TestMachine::params();
    p.simple.slice_overhead = nanoseconds(1000);
    const Time before = time(p, Protocol::kSimple, mebibytes(1));
    p.simple.slice_overhead = nanoseconds(3000);
    EXPECT_LE(time(p, Protocol::kSimple, mebibytes(1)) - before, nanoseconds(7 * 2000));
}

// A flag leaves only after earlier stores are acknowledged: three traversals per hop, not one.
TEST_F(RingTiming, AFlagWaitsForItsDataThereAndBack) {
    // Two sends in sequence. Each crosses two links three times: data, acknowledgement and flag.
    EXPECT_EQ(of_latency(TestMachine::params(), kibibytes(1)), nanoseconds(2 * 2 * 3 * 1000));
}

TEST_F(RingTiming, AProtocolsStartIsPaidOnce) {
    CollectiveParams p = TestMachine::params();
    const Time before = time(p, Protocol::kLl128, kibibytes(64));
    p.ll128.start_overhead = nanoseconds(7400);
    EXPECT_EQ(time(p, Protocol::kLl128, kibibytes(64)) - before, nanoseconds(7400));
}

}  // namespace
}  // namespace switchfold::cost_model_test
