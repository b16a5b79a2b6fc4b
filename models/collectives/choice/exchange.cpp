// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/exchange.h"

#include <algorithm>
#include <bit>

namespace switchfold {

namespace {

constexpr std::uint32_t kMostExchangeBlocks = 32;
// NCCL_P2P_LL_THRESHOLD, per channel.
constexpr std::uint64_t kMostByLl = 16 << 10;

/// Most channels for one peer: two per NVLink to it; two over PCIe; two over the network, or one if
/// a channel would serve more than four peers.
std::uint32_t most_for_a_peer(const MachineView& machine, std::uint32_t blocks) {
    constexpr std::uint32_t kTwo = 2;
    constexpr std::uint32_t kPeersOfAChannel = 4;
    if (machine.machines > 1)
        return kTwo * machine.ranks > blocks * kPeersOfAChannel ? 1 : kTwo;
    if (machine.pcie)
        return kTwo;
    // NCCL assumes 20 to 20.6 GB/s per link, and 40.1 from Blackwell on, where a switch compensates
    // for it: the maximum is reached either way.
    constexpr std::uint64_t kLink = 20'000'000'000;
    const std::uint64_t links = std::max<std::uint64_t>(1, machine.pair_bandwidth.count() / kLink);
    return static_cast<std::uint32_t>(std::bit_ceil(std::min<std::uint64_t>(kTwo * links, blocks)));
}

/// Bytes per step (init.cc, NCCL_P2P_NVL_CHUNKSIZE etc.): whole steps of Simple's buffer only if
/// all traffic uses NVLink.
std::uint64_t
step_of(const CollectiveParams& params, const MachineView& machine, Protocol protocol) {
    constexpr std::uint64_t kLeast = 16;
    constexpr std::uint64_t kOtherLinks = 128 << 10;
    const Bytes buffer = protocol == Protocol::kLl ? params.ll_buffer : params.simple_buffer;
    std::uint64_t step = std::max(kLeast, buffer.count() / params.steps);
    if (protocol == Protocol::kSimple && (machine.machines > 1 || machine.pcie))
        step = std::min(step, kOtherLinks);
    return step;
}

/// Divides a peer's bytes into parts, one per channel.
class Parts {
public:
    Parts(std::uint64_t step, bool across) {
        shortest_ = across ? step / 2 : step / 8;
        longest_ = across ? step : step * 32;
    }
    /// Channels for one peer: normally `few`, at most `most`.
    [[nodiscard]] std::uint32_t
    channels(std::uint64_t bytes, std::uint32_t few, std::uint32_t most) const {
        std::uint32_t channels = static_cast<std::uint32_t>(
            std::clamp<std::uint64_t>(ceil_of(bytes, shortest_), 1, few));
        while (ceil_of(bytes, channels) > longest_ && channels <= most / 2)
            channels *= 2;
        return channels;
    }

private:
    static std::uint64_t ceil_of(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }
    std::uint64_t shortest_ = 0;
    std::uint64_t longest_ = 0;
};

}  // namespace

bool is_exchange(CollectiveKind kind) {
    return kind == CollectiveKind::kAllToAll || kind == CollectiveKind::kSendReceive ||
           kind == CollectiveKind::kGather || kind == CollectiveKind::kScatter;
}

std::uint32_t peers_at_once(const Choice& choice, std::uint32_t peers) {
    return (choice.for_a_peer * peers + choice.channels - 1) / choice.channels;
}

double share_of_warps(std::uint32_t peers) {
    constexpr std::uint32_t kWarps = 20;
    constexpr double kOfARing = 16;
    constexpr std::uint32_t kPeersAtOnce = 8;
    constexpr std::uint32_t kUneven = 4;  // more warps of a peer than these are divided unevenly
    constexpr std::uint32_t kPosts = 3;   // a sender of so many warps has one that posts
    const std::uint32_t at_once = std::min(peers, kPeersAtOnce);
    const std::uint32_t warps = kWarps / at_once;
    const std::uint32_t receive = warps <= kUneven ? warps / 2 : (warps - 1) / 2;
    const std::uint32_t send = warps <= kUneven ? receive : receive + 1;
    const std::uint32_t sending = send >= kPosts ? send - 1 : send;
    return std::min(receive, sending) / kOfARing * at_once / peers;
}

Choice choose_exchange(
    const CollectiveParams& params,
    const CollectivePolicy& policy,
    const MachineView& machine,
    Bytes bytes) {
    Choice choice;
    const std::uint32_t blocks =
        policy.channels != 0
            ? policy.channels
            : std::min(std::bit_ceil(channels_of(params, machine)), kMostExchangeBlocks);
    const std::uint32_t most = most_for_a_peer(machine, blocks);
    std::uint32_t few = most;
    // Until 2.12 (group.cc) each message is divided among all of its peer's channels, which then
    // serve several peers at once.
    constexpr std::uint32_t kOneMessageAChannel = 21'300;
    while (params.nccl_version >= kOneMessageAChannel && few * machine.ranks > blocks && few > 1)
        few /= 2;
    const bool across = machine.machines > 1;
    choice.for_a_peer = Parts(step_of(params, machine, Protocol::kSimple), across)
                            .channels(bytes.count(), few, most);
    // Sends and receives do not support LL128, which a policy for all-reduces may request.
    choice.protocol = policy.protocol == Protocol::kLl128 ? Protocol::kAuto : policy.protocol;
    if (choice.protocol == Protocol::kAuto) {
        // Later versions decide by the payload that a channel of Simple would carry. 2.28.7 does
        // not yet: 4, 8 and 64 GB300 run LL up to 512 KiB a peer (nccl_issues.csv,
        // gb300_*_oci_a2a).
        constexpr std::uint32_t kByPayload = 22'900;
        const std::uint32_t counted = params.nccl_version >= kByPayload ? choice.for_a_peer : most;
        choice.protocol = bytes.count() <= counted * kMostByLl ? Protocol::kLl : Protocol::kSimple;
        if (choice.protocol == Protocol::kLl && params.nccl_version < kByPayload)
            choice.for_a_peer = Parts(step_of(params, machine, Protocol::kLl), across)
                                    .channels(bytes.count(), few, most);
    }
    choice.chunk = step_of(params, machine, choice.protocol);
    if (choice.protocol == Protocol::kLl)
        choice.chunk /= 2;  // the other half holds flags
    choice.channels = std::min(blocks, choice.for_a_peer * machine.ranks);
    choice.peers_of_a_block = peers_at_once(choice, machine.ranks);
    return choice;
}

}  // namespace switchfold
