// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/exchange.h"

#include <gtest/gtest.h>

#include <tuple>

namespace switchfold::exchange_choice_test {
namespace {

CollectiveParams params(std::uint32_t channels, std::uint32_t version) {
    CollectiveParams p;
    p.channels = channels;
    p.nccl_version = version;
    return p;
}

MachineView switched(std::uint32_t ranks) {
    MachineView view;
    view.ranks = ranks;
    view.per_machine = ranks;
    view.pair_bandwidth = gigabytes_per_second(370);
    return view;
}

/// Of an exchange in which a rank serves all, itself among them.
CollectiveConfig to_all(
    const CollectiveParams& p, const CollectivePolicy& policy, const MachineView& view,
    Bytes bytes) {
    return choose_exchange(p, policy, view, bytes, view.ranks);
}

/// Peers share the kernel's 32 blocks: 16, 8 and 4 blocks per peer with 2, 4 and 8 ranks.
TEST(ExchangeChoice, PeersShareAPowerOfTwoOfBlocks) {
    for (const std::uint32_t ranks : {2U, 4U, 8U}) {
        const CollectiveConfig choice =
            to_all(params(24, 22'903), {}, switched(ranks), mebibytes(16));
        EXPECT_EQ(choice.channels, 32U);
        EXPECT_EQ(channels_for_a_peer(choice), 32U / ranks);
        EXPECT_EQ(choice.of<NcclConfig>().peers_of_a_block, 1U);
        EXPECT_EQ(choice.protocol, Protocol::kSimple);
    }
}

TEST(ExchangeChoice, ManyRanksShareBlocks) {
    const CollectiveConfig choice = to_all(params(24, 22'903), {}, switched(72), mebibytes(1));
    EXPECT_EQ(choice.channels, 32U);
    EXPECT_EQ(channels_for_a_peer(choice), 1U);
    EXPECT_EQ(choice.of<NcclConfig>().peers_of_a_block, 3U);
}

/// 20 warps: a peer alone gets 9 that receive and 10 that send, of which one posts; eight get one
/// each way, and more take turns.
TEST(ExchangeChoice, PeersShareABlocksWarps) {
    const std::vector<double> sixteenths = {9, 4, 2, 2, 2, 1, 1, 1};
    for (std::uint32_t peers = 1; peers <= 8; ++peers)
        EXPECT_DOUBLE_EQ(share_of_warps(peers), sixteenths[peers - 1] / 16) << peers;
    EXPECT_DOUBLE_EQ(share_of_warps(16), 0.5 / 16);
}

/// Parts below an eighth of a step are not worth a channel.
TEST(ExchangeChoice, ShortMessagesTakeFewChannels) {
    EXPECT_EQ(
        to_all(params(24, 22'903), {}, switched(8), kibibytes(64)).of<NcclConfig>().for_a_peer, 1U);
    EXPECT_EQ(
        to_all(params(24, 22'903), {}, switched(8), kibibytes(128)).of<NcclConfig>().for_a_peer,
        2U);
}

/// Measured: in all-to-alls, NCCL 2.27.3 on 8 A100 and 2.28.7 on 4, 8 and 64 GB300 use LL up to 512
/// KiB per peer, and 2.29.2 on 8 H100 up to 16 KiB.
TEST(ExchangeChoice, TheVersionDecidesHowLongLlIsTaken) {
    const auto protocol = [](std::uint32_t version, Bytes bytes) {
        return to_all(params(24, version), {}, switched(8), bytes).protocol;
    };
    EXPECT_EQ(protocol(22'703, kibibytes(512)), Protocol::kLl);
    EXPECT_EQ(protocol(22'703, kibibytes(513)), Protocol::kSimple);
    EXPECT_EQ(protocol(22'807, kibibytes(512)), Protocol::kLl);
    EXPECT_EQ(protocol(22'902, kibibytes(16)), Protocol::kLl);
    EXPECT_EQ(protocol(22'902, kibibytes(17)), Protocol::kSimple);
}

/// hta_dlrm_v100_2r: two GPUs joined by one link, two blocks.
TEST(ExchangeChoice, OldVersionsDivideAMessageAmongAllChannelsOfItsPeer) {
    MachineView view = switched(2);
    view.pair_bandwidth = gigabytes_per_second(25);
    CollectivePolicy policy;
    policy.channels = 2;
    const CollectiveConfig now = to_all(params(12, 22'903), policy, view, mebibytes(8));
    EXPECT_EQ(now.of<NcclConfig>().for_a_peer, 1U);
    EXPECT_EQ(now.of<NcclConfig>().peers_of_a_block, 1U);
    const CollectiveConfig old = to_all(params(12, 21'003), policy, view, mebibytes(8));
    EXPECT_EQ(old.channels, 2U);
    EXPECT_EQ(old.of<NcclConfig>().for_a_peer, 2U);
    EXPECT_EQ(old.of<NcclConfig>().peers_of_a_block, 2U);
}

TEST(ExchangeChoice, SlowerLinksGetFewerChannelsAndShorterChunks) {
    MachineView pcie = switched(2);
    pcie.pcie = true;
    const CollectiveConfig over_pcie = to_all(params(4, 22'903), {}, pcie, mebibytes(16));
    EXPECT_EQ(over_pcie.of<NcclConfig>().for_a_peer, 2U);
    EXPECT_EQ(over_pcie.of<NcclConfig>().chunk, 128U << 10U);
    MachineView mesh = switched(4);
    mesh.pair_bandwidth = gigabytes_per_second(94);  // four links per pair
    EXPECT_EQ(to_all(params(24, 22'903), {}, mesh, mebibytes(64)).of<NcclConfig>().for_a_peer, 8U);
    EXPECT_EQ(
        to_all(params(24, 22'903), {}, mesh, mebibytes(64)).of<NcclConfig>().chunk, 512U << 10U);
}

/// NCCL divides the kernel's blocks among all ranks, even where a rank sends to one alone, and a
/// long message gets more. Measured on 4 and 8 H100 by 2.29.2: 64 MiB to the next rank take 425 and
/// 819 us, 128 MiB 823 and 825, 512 MiB 1510 and 1512 (h100_*_xxrjun_sr).
TEST(ExchangeChoice, OneNeighbourHasTheBlocksOfItsMessageToItself) {
    const auto next = [](std::uint32_t ranks, std::uint64_t mib) {
        return choose_exchange(params(24, 22'902), {}, switched(ranks), mebibytes(mib), 1);
    };
    for (const auto& [mib, of_two, of_four, of_eight] :
         {std::tuple(64U, 16U, 8U, 4U), std::tuple(128U, 16U, 8U, 8U),
          std::tuple(512U, 32U, 32U, 32U)}) {
        EXPECT_EQ(next(2, mib).of<NcclConfig>().for_a_peer, of_two);
        EXPECT_EQ(next(4, mib).of<NcclConfig>().for_a_peer, of_four);
        EXPECT_EQ(next(8, mib).of<NcclConfig>().for_a_peer, of_eight);
        EXPECT_EQ(next(8, mib).channels, of_eight) << "the kernel has no other blocks";
        EXPECT_EQ(next(8, mib).of<NcclConfig>().peers_of_a_block, 1U);
    }
}

/// Measured: 2.29.7 on 2 to 16 machines of 8 B200, 43, 44, 26 and 15 GB/s (b200_*_together_sr);
/// 2.29.2 on ten machines with 4 and 8 H100, 26 and 15 GB/s (h100_*_10n_xxrjun_sr): some 14 GB/s a
/// channel.
TEST(ExchangeChoice, ChannelsAcrossMachinesFollowTheNetworkAndTheRanks) {
    const auto next = [](std::uint32_t version, std::uint32_t machines, std::uint32_t gpus) {
        MachineView view = switched(machines * gpus);
        view.machines = machines;
        view.per_machine = view.rails = gpus;
        view.rail_bandwidth = gigabytes_per_second(48) * gpus;
        return choose_exchange(params(24, version), {}, view, mebibytes(64), 1)
            .of<NcclConfig>()
            .for_a_peer;
    };
    EXPECT_EQ(next(22'907, 2, 8), 4U);
    EXPECT_EQ(next(22'907, 4, 8), 4U);
    EXPECT_EQ(next(22'907, 8, 8), 2U);
    EXPECT_EQ(next(22'907, 16, 8), 1U);
    EXPECT_EQ(next(22'902, 10, 4), 2U);
    EXPECT_EQ(next(22'902, 10, 8), 1U);
    // Before 2.29: two, and one where a channel would serve more than four peers.
    EXPECT_EQ(next(22'807, 4, 8), 2U);
    EXPECT_EQ(next(22'807, 8, 8), 1U);
}

/// Exchanges ignore a policy's LL128, which only all-reduces can use.
TEST(ExchangeChoice, KnowsNoLl128) {
    CollectivePolicy policy;
    policy.protocol = Protocol::kLl128;
    for (const Bytes bytes : {kibibytes(1), mebibytes(1)}) {
        const CollectiveParams p = params(24, 22'903);
        EXPECT_EQ(
            to_all(p, policy, switched(8), bytes).protocol,
            to_all(p, {}, switched(8), bytes).protocol);
    }
}

TEST(ExchangeChoice, APolicySaysOtherwise) {
    CollectivePolicy policy;
    policy.protocol = Protocol::kSimple;
    policy.channels = 8;
    const CollectiveConfig choice = to_all(params(24, 22'903), policy, switched(8), kibibytes(1));
    EXPECT_EQ(choice.protocol, Protocol::kSimple);
    EXPECT_EQ(choice.channels, 8U);
}

}  // namespace
}  // namespace switchfold::exchange_choice_test
