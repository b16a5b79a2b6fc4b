// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/pcie_channels.h"

#include "interconnect/topologies/pcie.h"
#include "models/collectives/choice/machine_view.h"
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>

#include <numeric>

namespace switchfold::pcie_channels_test {
namespace {

constexpr Bandwidth kSockets(41'600'000'000);

PcieTopology box(std::uint32_t gpus, std::uint32_t roots, double slot) {
    PcieTopology p;
    p.gpus = gpus;
    p.roots = roots;
    p.gpu_link.lane_bandwidth = Bandwidth(static_cast<std::uint64_t>(slot * 1e9));
    LinkParams sockets = p.gpu_link;
    sockets.lane_bandwidth = kSockets;
    p.root_link = sockets;
    return p;
}

MachineView view_of(const PcieTopology& topology, std::uint32_t gpus) {
    std::vector<std::uint32_t> ranks(gpus);
    std::iota(ranks.begin(), ranks.end(), 0U);
    return view_group(topology.build(), kibibytes(4), ranks).machine;
}

std::uint32_t channels(
    HostProcessor host, TunerGeneration tuner, const PcieTopology& topology, std::uint32_t gpus) {
    CollectiveParams params;
    params.host_processor = host;
    params.tuner = tuner;
    params.channels = 32;
    return channels_of(params, view_of(topology, gpus));
}

constexpr double kPcie3 = 15.75;
constexpr double kPcie4 = 31.5;
constexpr double kPcie5 = 63;

TEST(PcieChannels, TheViewHasWhatARingPasses) {
    const MachineView inside = view_of(box(8, 2, kPcie5), 4);
    EXPECT_TRUE(inside.pcie && inside.over_root);
    EXPECT_EQ(inside.slot_bandwidth, gigabytes_per_second(63));
    EXPECT_EQ(inside.socket_bandwidth, Bandwidth());
    const MachineView across = view_of(box(8, 2, kPcie5), 8);
    EXPECT_EQ(across.slot_bandwidth, gigabytes_per_second(63));
    EXPECT_EQ(across.socket_bandwidth, kSockets);
    // One GPU a root: no way leads over one root alone.
    EXPECT_FALSE(view_of(box(2, 2, kPcie5), 2).over_root);
}

// "4 coll channels", or rings up to "Channel 03": tinygrad/open-gpu-kernel-modules#17 (RTX 4090 on
// an EPYC). "nChannels 2, speed 24" before it is doubled, and 2 across sockets: rtx6kpro.
TEST(PcieChannels, AreThoseOfLogs) {
    using enum HostProcessor;
    using enum TunerGeneration;
    EXPECT_EQ(channels(kAmd, kAmpere, box(6, 1, kPcie4), 6), 4U);
    EXPECT_EQ(channels(kAmd, kBlackwell, box(4, 1, kPcie5), 4), 4U);
    EXPECT_EQ(channels(kAmd, kAmpere, box(4, 1, kPcie5), 4), 4U);
    EXPECT_EQ(channels(kAmd, kBlackwell, box(8, 2, kPcie5), 8), 2U);
    EXPECT_EQ(channels(kAmd, kAmpere, box(8, 2, kPcie5), 8), 2U);
    // Ring 00 and 01 on eight RTX 4090 and two sockets: nccl-tests#307.
    EXPECT_EQ(channels(kIntel, kAmpere, box(8, 2, kPcie4), 8), 2U);
}

TEST(PcieChannels, OfOlderCardsAndIntelsRootsAreFew) {
    using enum HostProcessor;
    using enum TunerGeneration;
    // 24 GB/s, of which a ring of 20 takes all with Intel's small packets.
    EXPECT_EQ(channels(kIntel, kAmpere, box(4, 1, kPcie4), 4), 2U);
    EXPECT_EQ(channels(kAmd, kVolta, box(4, 1, kPcie3), 4), 2U);
    EXPECT_EQ(channels(kIntel, kVolta, box(4, 1, kPcie3), 4), 2U);
    EXPECT_EQ(channels(kIntel, kVolta, box(8, 2, kPcie3), 8), 2U);
}

TEST(PcieChannels, NeverExceedTheLibrarysLimit) {
    CollectiveParams params;
    params.host_processor = HostProcessor::kAmd;
    params.channels = 1;
    EXPECT_EQ(channels_of(params, view_of(box(4, 1, kPcie5), 4)), 1U);
}

// All stores of a block go over PCIe in a ring's n-1 sends of S/n; the last step, which stores
// nothing to a peer, is much faster.
TEST(PcieChannels, ABlockStoresToPeersAtTheHostsRate) {
    CollectiveParams params = TestMachine::params();
    params.simple.block_rate = gigabytes_per_second(1000);
    params.simple.hop_overhead = Time();
    CollectiveOperation operation;
    operation.kind = CollectiveKind::kAllGather;
    operation.bytes = mebibytes(256);
    const auto time = [&](const Topology& topology, Bandwidth rate) {
        params.host_store_rate = rate;
        TestMachine machine(topology, params, {Algorithm::kRing, Protocol::kSimple, 1, false});
        const CollectiveRecord record = machine.run(operation);
        return to_seconds(record.end - record.start);
    };
    const Topology cards = box(4, 1, kPcie5).build();
    const double sent = 0.75 * static_cast<double>(operation.bytes.count());
    EXPECT_NEAR(time(cards, gigabytes_per_second(10)), sent / 10e9, 0.1 * sent / 10e9);
    EXPECT_NEAR(time(cards, gigabytes_per_second(20)), sent / 20e9, 0.1 * sent / 20e9);
    EXPECT_LT(time(cards, Bandwidth()), 0.6 * sent / 20e9);
    // NVLink does not pass the host.
    const Topology hgx = TestMachine::hgx(4).build();
    EXPECT_EQ(time(hgx, gigabytes_per_second(10)), time(hgx, Bandwidth()));
}

// Two blocks of an all-to-all serve three peers each, and copy a quarter within the GPU beside
// them.
TEST(PcieChannels, AnExchangesOwnShareTakesNothingFromStoresToPeers) {
    CollectiveParams params = TestMachine::params();
    params.simple.block_rate = gigabytes_per_second(1000);
    params.simple.hop_overhead = Time();
    params.simple.slice_overhead = Time();
    params.host_store_rate = gigabytes_per_second(10);
    CollectiveOperation operation;
    operation.kind = CollectiveKind::kAllToAll;
    operation.bytes = mebibytes(64);
    const Topology cards = box(4, 1, kPcie5).build();
    TestMachine machine(cards, params, {Algorithm::kAuto, Protocol::kSimple, 2, false});
    const CollectiveRecord record = machine.run(operation);
    const double sent = 0.75 * static_cast<double>(operation.bytes.count());
    EXPECT_NEAR(to_seconds(record.end - record.start), sent / 20e9, 0.05 * sent / 20e9);
}

}  // namespace
}  // namespace switchfold::pcie_channels_test
