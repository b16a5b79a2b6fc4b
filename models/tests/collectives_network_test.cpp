// SPDX-License-Identifier: Apache-2.0
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace switchfold::collectives_network_test {
namespace {

CollectiveParams network_params() {
    CollectiveParams params = TestMachine::params();
    params.simple.network_overhead = microseconds(8);
    return params;
}

double seconds(
    const Topology& topology, Algorithm algorithm, Protocol protocol, std::uint64_t bytes,
    const CollectiveParams& params = network_params()) {
    TestMachine machine(topology, params, {algorithm, protocol, 0, false});
    CollectiveOperation operation;
    operation.bytes = Bytes(bytes);
    const CollectiveRecord record = machine.run(operation);
    EXPECT_EQ(machine.ended, topology.gpus());
    return to_seconds(record.end - record.start);
}

/// nccl#1221: with 8 NICs of 50 GB/s per machine, NVLS is faster on two machines, but not on more.
/// A tree's inner machine sends everything twice, as in a ring, so the network is the limit. (The
/// tree over all GPUs is slower than both.)
TEST(AcrossMachines, NoGainFromTheSwitchAboveTwo) {
    CollectiveParams params = network_params();
    params.transfer_unit = kibibytes(16);
    params.simple.slice_overhead = microseconds(3);  // as on H100, and so the next
    params.simple.block_rate = gigabytes_per_second(35);
    const auto gain = [&params](std::uint32_t machines, std::uint64_t size) {
        const Topology topology = TestMachine::cluster(machines, 8);
        return seconds(topology, Algorithm::kRing, Protocol::kSimple, size, params) /
               seconds(topology, Algorithm::kInSwitchTree, Protocol::kSimple, size, params);
    };
    EXPECT_GT(gain(2, 512ULL << 20U), 1.1);
    EXPECT_NEAR(gain(4, 256ULL << 20U), 1.0, 0.1);
}

TEST(AcrossMachines, NeverFasterThanTheNics) {
    constexpr std::uint64_t kSize = 64ULL << 20U;
    constexpr double kNics = 4 * 50e9;
    for (const std::uint32_t machines : {2U, 4U}) {
        const Topology topology = TestMachine::cluster(machines, 4);
        const double n = 4.0 * machines;
        // Bytes that a machine sends: each ring channel leaves it once. With more than two
        // machines, an inner machine of a tree sends half of the buffer three times (to its parent
        // and two children) and half of it once as a leaf of the other tree.
        EXPECT_GT(
            seconds(topology, Algorithm::kRing, Protocol::kSimple, kSize),
            2 * (n - 1) / n * kSize / kNics);
        const double tree = machines == 2 ? 1.0 : 2.0;
        for (const Algorithm algorithm : {Algorithm::kTree, Algorithm::kInSwitchTree})
            EXPECT_GT(seconds(topology, algorithm, Protocol::kSimple, kSize), tree * kSize / kNics);
        EXPECT_GT(
            seconds(topology, Algorithm::kInSwitchRing, Protocol::kSimple, kSize),
            2.0 * (machines - 1) / machines * kSize / kNics);
    }
}

TEST(AcrossMachines, SmallTreesCostTheHopsOfNcclsTable) {
    // NCCL tuning.cc: 2 * ((ppn - 1) * NVLink + log2(nodes) * NET) on top of the base. Its table
    // has 5.0 us for a tree's NET hop with LL. Here the hop is the sum of proxy, wires and polling.
    const auto time = [](std::uint32_t machines) {
        return seconds(TestMachine::cluster(machines, 1), Algorithm::kTree, Protocol::kLl, 1024);
    };
    const double hop = (time(4) - time(2)) / 2;
    EXPECT_GT(hop, 2.0e-6);
    EXPECT_LT(hop, 5.5e-6);
}

TEST(AcrossMachines, TheProxyIsPaidForEverySlice) {
    const Topology topology = TestMachine::cluster(2, 2);
    CollectiveParams slow = network_params();
    slow.proxy_overhead = microseconds(20);
    const double usual = seconds(topology, Algorithm::kRing, Protocol::kLl, 4096);
    const double delayed = seconds(topology, Algorithm::kRing, Protocol::kLl, 4096, slow);
    // A ring of 4 ranks has 6 steps on its longest path; at least 2 of them cross the network.
    EXPECT_GT(delayed - usual, 2 * 19e-6);
    EXPECT_LT(delayed - usual, 6 * 19e-6);
}

// LL's lines lie in the host's memory, and the proxy looks at each before it sends them. A message
// of 1 KiB has 2 KiB of lines.
TEST(AcrossMachines, TheProxyLooksThroughTheLinesOfLl) {
    const Topology topology = TestMachine::cluster(2, 2);
    CollectiveParams scanned = network_params();
    scanned.proxy_scan_rate = Bandwidth(102'400'000);  // 20 us
    const auto more = [&](Protocol protocol) {
        return seconds(topology, Algorithm::kRing, protocol, 4096, scanned) -
               seconds(topology, Algorithm::kRing, protocol, 4096);
    };
    EXPECT_GT(more(Protocol::kLl), 2 * 19e-6);
    EXPECT_LT(more(Protocol::kLl), 6 * 20e-6);
    EXPECT_EQ(more(Protocol::kLl128), 0);
    EXPECT_EQ(more(Protocol::kSimple), 0);
}

// Sockets: the proxies of one machine send what the network would carry ten times as fast, and
// those of the other receive it beside.
TEST(AcrossMachines, AProxyThatCopiesBoundsTheRate) {
    const Topology topology = TestMachine::cluster(2, 1);
    CollectiveParams sockets = network_params();
    sockets.proxy_copy_rate = gigabytes_per_second(2);
    constexpr std::uint64_t kSize = 256ULL << 20U;
    // Two ranks: each sends the whole buffer once, and its proxy copies what it receives as well.
    const double copied = 2.0 * kSize / 2e9;
    const double time = seconds(topology, Algorithm::kRing, Protocol::kSimple, kSize, sockets);
    EXPECT_NEAR(time, copied, 0.1 * copied);
    EXPECT_LT(seconds(topology, Algorithm::kRing, Protocol::kSimple, kSize), 0.5 * copied);
}

TEST(AcrossMachines, HalvingTheTransferUnitConverges) {
    for (const Algorithm algorithm :
         {Algorithm::kRing, Algorithm::kTree, Algorithm::kInSwitchTree, Algorithm::kInSwitchRing}) {
        const auto time = [algorithm](std::uint64_t unit) {
            CollectiveParams params = network_params();
            params.transfer_unit = Bytes(unit);
            return seconds(
                TestMachine::cluster(2, 4), algorithm, Protocol::kSimple, 32ULL << 20U, params);
        };
        EXPECT_NEAR(time(2048) / time(4096), 1.0, 0.03) << enum_name(algorithm);
    }
}

TEST(AcrossMachines, AutoChoosesAsNcclDoes) {
    const auto choice = [](std::uint32_t machines, TunerGeneration tuner, Bytes bytes) {
        CollectiveParams params = network_params();
        params.tuner = tuner;
        params.channels = 16;
        TestMachine machine(TestMachine::cluster(machines, 8), params, CollectivePolicy());
        std::vector<std::uint32_t> ranks = machine.group;
        return machine.engine->choose(ranks, bytes);
    };
    for (const std::uint32_t machines : {2U, 8U})
        for (const TunerGeneration tuner : {TunerGeneration::kAmpere, TunerGeneration::kHopper}) {
            const CollectiveConfig small = choice(machines, tuner, kibibytes(1));
            EXPECT_EQ(small.algorithm, Algorithm::kTree);
            EXPECT_EQ(small.protocol, Protocol::kLl);
        }
    EXPECT_EQ(
        choice(2, TunerGeneration::kHopper, mebibytes(1024)).algorithm, Algorithm::kInSwitchTree);
    // On Ampere, NCCL does not reduce in the switch. Two machines gain from a tree, more do not.
    EXPECT_EQ(choice(8, TunerGeneration::kAmpere, mebibytes(4096)).algorithm, Algorithm::kRing);
    EXPECT_EQ(choice(8, TunerGeneration::kAmpere, mebibytes(4096)).protocol, Protocol::kSimple);
}

TEST(AcrossMachines, WhatAMachineCannotDoHasAReason) {
    using Ranks = std::vector<std::uint32_t>;
    const Topology pair = TestMachine::cluster(2, 4);
    for (const Algorithm algorithm : {Algorithm::kInSwitchTree, Algorithm::kInSwitchRing}) {
        EXPECT_EQ(why_not(algorithm, pair, {0, 1, 4, 5}), "");
        EXPECT_NE(
            why_not(algorithm, pair, {0, 1, 2, 3}).find("are in one machine"), std::string::npos);
        EXPECT_NE(
            why_not(algorithm, pair, {0, 1, 2, 4}).find("the same number of the group's GPUs"),
            std::string::npos);
        EXPECT_NE(why_not(algorithm, pair, {0, 4}).find("one GPU a machine"), std::string::npos);
    }
    SwitchedTopology plain = TestMachine::hgx(4);
    plain.node.reduction.reset();
    EXPECT_NE(
        why_not(Algorithm::kInSwitch, plain.build(), {0, 1}).find("reduction unit"),
        std::string::npos);
    const Ranks all{0, 1, 2, 3, 4, 5, 6, 7};
    EXPECT_NE(why_not(Algorithm::kInSwitch, pair, all), "");
    EXPECT_EQ(why_not(Algorithm::kRing, pair, all), "");
}

TEST(AcrossMachines, AllRailsCarryTheSame) {
    for (const Algorithm algorithm :
         {Algorithm::kRing, Algorithm::kTree, Algorithm::kInSwitchTree}) {
        TestMachine machine(
            TestMachine::cluster(2, 4), network_params(), {algorithm, Protocol::kSimple, 0, false});
        CollectiveOperation operation;
        operation.bytes = mebibytes(64);
        machine.run(operation);
        std::uint64_t least = UINT64_MAX;
        std::uint64_t most = 0;
        const auto& nodes = machine.fabric.topology().nodes;
        for (const auto& link : machine.fabric.links()) {
            const TopologyEdge& edge = machine.fabric.topology().edges[link->id() / 2];
            const bool cable =
                (nodes[edge.a].kind == NodeKind::kNic && nodes[edge.b].kind == NodeKind::kSwitch) ||
                (nodes[edge.b].kind == NodeKind::kNic && nodes[edge.a].kind == NodeKind::kSwitch);
            if (!cable)
                continue;
            least = std::min(least, link->statistics().payload_bytes);
            most = std::max(most, link->statistics().payload_bytes);
        }
        EXPECT_GT(least, 0U);
        EXPECT_LT(static_cast<double>(most) / static_cast<double>(least), 1.3)
            << enum_name(algorithm);
    }
}

/// hardware.md A5, nccl#1506: all-gather and reduce-scatter move the whole buffer in one direction
/// with or without the switch. In the other direction the switch leaves an N-th of it.
TEST(InSwitchHalves, TheSwitchSavesOneDirectionOnly) {
    constexpr std::uint64_t kSize = 64ULL << 20U;
    for (const CollectiveKind kind : {CollectiveKind::kReduceScatter, CollectiveKind::kAllGather}) {
        const auto run = [kind](Algorithm algorithm, std::uint64_t& out, std::uint64_t& in) {
            TestMachine machine(
                TestMachine::hgx(8).build(), TestMachine::params(),
                {algorithm, Protocol::kSimple, 0, false});
            CollectiveOperation operation;
            operation.kind = kind;
            operation.bytes = Bytes(kSize);
            const CollectiveRecord record = machine.run(operation);
            for (const auto& link : machine.fabric.links()) {
                const std::string name = link->name();
                if (name.find("gpu3_to_") != std::string::npos)
                    out += link->statistics().payload_bytes;
                if (name.find("_to_gpu3_") != std::string::npos)
                    in += link->statistics().payload_bytes;
            }
            return to_seconds(record.end - record.start);
        };
        std::uint64_t ring_out = 0;
        std::uint64_t ring_in = 0;
        std::uint64_t out = 0;
        std::uint64_t in = 0;
        const double ring = run(Algorithm::kRing, ring_out, ring_in);
        const double through = run(Algorithm::kInSwitch, out, in);
        EXPECT_NEAR(static_cast<double>(ring_out), 7.0 / 8 * kSize, kSize * 1e-3);
        EXPECT_NEAR(static_cast<double>(ring_in), 7.0 / 8 * kSize, kSize * 1e-3);
        const bool reduces = kind == CollectiveKind::kReduceScatter;
        EXPECT_NEAR(static_cast<double>(out), (reduces ? 1.0 : 1.0 / 8) * kSize, kSize * 1e-3);
        EXPECT_NEAR(static_cast<double>(in), (reduces ? 1.0 / 8 : 1.0) * kSize, kSize * 1e-3);
        EXPECT_GT(through / ring, 0.9);
    }
}

}  // namespace
}  // namespace switchfold::collectives_network_test
