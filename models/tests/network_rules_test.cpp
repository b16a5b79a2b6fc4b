// SPDX-License-Identifier: Apache-2.0
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>

namespace switchfold::network_rules_test {
namespace {

// From NCCL's logs ("N coll channels"): two machines, the number of interfaces per machine and
// their rate.
TEST(NetworkRules, ChannelsGoByTheNetworkInterfaces) {
    const auto channels = [](TunerGeneration tuner, std::uint32_t rails, double GBps) {
        CollectiveParams params = TestMachine::params();
        params.tuner = tuner;
        MachineView view;
        view.machines = 2;
        view.rails = rails;
        view.rail_bandwidth = Bandwidth(static_cast<std::uint64_t>(GBps * rails * 1e9));
        return channels_of(params, view);
    };
    EXPECT_EQ(channels(TunerGeneration::kHopper, 4, 24.3), 8U);   // Snellius
    EXPECT_EQ(channels(TunerGeneration::kHopper, 8, 49.0), 16U);  // p5.48xlarge
    EXPECT_EQ(channels(TunerGeneration::kHopper, 4, 49.0), 16U);  // nccl#1357
    EXPECT_EQ(channels(TunerGeneration::kAmpere, 1, 12.0), 2U);   // nccl#527
    CollectiveParams params = TestMachine::params();
    params.channels = 24;
    EXPECT_EQ(channels_of(params, MachineView{}), 24U);
}

// "threadThresholds 8/8/64 | 64/8/64" for tree and ring on 8 ranks: a channel is dropped below
// this number of bytes per thread.
TEST(NetworkRules, ATreeSpreadsSmallLlOverMoreChannelsThanARing) {
    CollectiveParams params = TestMachine::params();
    MachineView view;
    view.ranks = 8;
    const auto channels = [&](Algorithm algorithm) {
        return channels_for(params, algorithm, Protocol::kLl, view, kibibytes(32));
    };
    EXPECT_EQ(channels(Algorithm::kTree), (32U << 10U) / (8U * params.ll.threads));
    EXPECT_EQ(channels(Algorithm::kRing), (32U << 10U) / (64U * params.ll.threads));
}

TEST(NetworkRules, RailsAreTheInterfacesOrTheMembersIfTheyAreFewer) {
    const Topology topology = TestMachine::cluster(2, 4);
    const auto rails = [&](const std::vector<std::uint32_t>& ranks) {
        return rails_of(topology, ranks, lay_out(topology, ranks));
    };
    EXPECT_EQ(rails({0, 1, 2, 3, 4, 5, 6, 7}), 4U);
    EXPECT_EQ(rails({0, 1, 4, 5}), 2U);
}

TEST(NetworkRules, SoftwareThatAllowsOneProtocolAndNoSwitchGetsThat) {
    CollectiveParams params = TestMachine::params();
    MachineView view;
    view.ranks = 16;
    view.machines = 2;
    view.per_machine = 8;
    view.rails = 8;
    view.ring_line_rate = gigabytes_per_second(464);
    view.ring_bandwidth = view.inside_bandwidth = view.rail_bandwidth = gigabytes_per_second(360);
    view.in_switch_bandwidth = gigabytes_per_second(240);
    EXPECT_EQ(
        choose_collective(params, {}, view, {CollectiveKind::kAllReduce, kibibytes(1)}).protocol,
        Protocol::kLl);
    EXPECT_EQ(
        choose_collective(params, {}, view, {CollectiveKind::kAllReduce, mebibytes(1024)})
            .algorithm,
        Algorithm::kInSwitchTree);
    params.network_protocol = Protocol::kSimple;
    params.automatic_in_switch = false;
    EXPECT_EQ(
        choose_collective(params, {}, view, {CollectiveKind::kAllReduce, kibibytes(1)}).protocol,
        Protocol::kSimple);
    EXPECT_NE(
        choose_collective(params, {}, view, {CollectiveKind::kAllReduce, mebibytes(1024)})
            .algorithm,
        Algorithm::kInSwitchTree);
    view.machines = 1;
    EXPECT_EQ(
        choose_collective(params, {}, view, {CollectiveKind::kAllReduce, kibibytes(1)}).protocol,
        Protocol::kLl);
}

double seconds(Algorithm algorithm, const CollectiveParams& params, Bytes bytes) {
    TestMachine machine(
        TestMachine::cluster(2, 4), params, {algorithm, Protocol::kSimple, 0, false});
    CollectiveOperation operation;
    operation.bytes = bytes;
    const CollectiveRecord record = machine.run(operation);
    EXPECT_EQ(machine.ended, 8U);
    return to_seconds(record.end - record.start);
}

// Each rail carries four channels. Each proxy sends and receives every chunk, once per direction.
TEST(NetworkRules, AProxyThatIsSlowEnoughIsTheBottleneckForSendsAndReceives) {
    CollectiveParams params = TestMachine::params();
    const Bytes bytes = mebibytes(64);
    params.proxy_overhead = microseconds(100);
    params.tree_cuts_small = true;
    // Simple tree, depth 4, 16 channels: 4 MiB each, in chunks of 128 KiB.
    const double chunks = 32;
    const double channels_a_rail = 4;
    const double work = chunks * channels_a_rail * 2 * 100e-6;
    const double time = seconds(Algorithm::kTree, params, bytes);
    EXPECT_GT(time, 0.95 * work);
    EXPECT_LT(time, 1.3 * work);
}

// A chunk passes ten hops between thread blocks in sequence. It is the whole buffer in present NCCL
// and a part of it in NCCL before 2.20, which cut small buffers.
TEST(NetworkRules, ATreeOfPresentNcclSendsASmallBufferAsOneChunk) {
    CollectiveParams params = TestMachine::params();
    const Bytes bytes = mebibytes(4);
    const double whole = seconds(Algorithm::kTree, params, bytes);
    params.tree_cuts_small = true;
    const double cut = seconds(Algorithm::kTree, params, bytes);
    EXPECT_GT(whole, 1.4 * cut);
    // Once a chunk is an eighth of a channel's part of the buffer or less, both cut the same.
    const double many = seconds(Algorithm::kTree, params, mebibytes(512));
    params.tree_cuts_small = false;
    EXPECT_NEAR(seconds(Algorithm::kTree, params, mebibytes(512)) / many, 1.0, 0.01);
}

// Heads reduce while the network lags behind. They must not overwrite slots that are still in use.
TEST(NetworkRules, HeadsWaitForANetworkThatIsBehind) {
    CollectiveParams params = TestMachine::params();
    params.simple.network_overhead = microseconds(1000);
    params.in_switch_chunk = kibibytes(32);
    EXPECT_GT(seconds(Algorithm::kInSwitchTree, params, mebibytes(64)), 0.0);
}

}  // namespace
}  // namespace switchfold::network_rules_test
