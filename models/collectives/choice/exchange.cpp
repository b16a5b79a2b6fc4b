// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/exchange.h"

#include <algorithm>
#include <bit>

namespace switchfold {

namespace {

constexpr std::uint32_t kMostExchangeBlocks = 32;
/// Peers that a thread block serves at once (NCCL_MAX_DEV_WORK_P2P_PER_BATCH).
constexpr std::uint32_t kMostPeersAtOnce = 8;
// NCCL_P2P_LL_THRESHOLD, per channel.
constexpr std::uint64_t kMostByLl = 16 << 10;

/// Channels that NCCL opens to a peer on another machine (graph/paths.cc). Until 2.28 two, or one
/// if a channel would serve more than four peers. From 2.29 on as many as a GPU's network
/// interfaces need by 14 GB/s each, as long as a kernel's blocks can serve all ranks at once, eight
/// each.
std::uint32_t
across_to_a_peer(const CollectiveParams& params, const MachineView& machine, std::uint32_t blocks) {
    constexpr std::uint32_t kByBandwidth = 22'900;
    constexpr std::uint32_t kTwo = 2;
    constexpr std::uint32_t kPeersOfAChannel = 4;
    if (params.nccl_version < kByBandwidth)
        return kTwo * machine.ranks > blocks * kPeersOfAChannel ? 1 : kTwo;
    constexpr std::uint64_t kOfAChannel = 14;  // GB/s, NCCL_P2P_PER_CHANNEL_NET_BW
    constexpr std::uint64_t kGigabyte = 1'000'000'000;
    const std::uint64_t interface =
        machine.rail_bandwidth.count() / std::max(1U, machine.rails) / kGigabyte;
    const std::uint64_t wanted =
        std::max<std::uint64_t>(1, (interface + kOfAChannel - 1) / kOfAChannel);
    auto channels = static_cast<std::uint32_t>(
        std::bit_ceil(machine.pcie ? std::min<std::uint64_t>(wanted, kTwo) : wanted));
    const std::uint32_t rounds = (machine.ranks + kMostPeersAtOnce - 1) / kMostPeersAtOnce;
    while (channels * rounds > blocks && channels > 1)
        channels /= 2;
    return std::min(channels, blocks);
}

/// Most channels for one peer: two per NVLink to it; two over PCIe; across machines by the network.
std::uint32_t
most_for_a_peer(const CollectiveParams& params, const MachineView& machine, std::uint32_t blocks) {
    constexpr std::uint32_t kTwo = 2;
    if (machine.machines > 1)
        return across_to_a_peer(params, machine, blocks);
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

/// NCCL's rules for the messages of a machine's exchanges.
class MessageRules {
public:
    MessageRules(
        const CollectiveParams& params, const CollectivePolicy& policy,
        const MachineView& machine) :
        params_(params),
        machine_(machine),
        blocks_(
            policy.channels != 0
                ? policy.channels
                : std::min(std::bit_ceil(channels_of(params, machine)), kMostExchangeBlocks)),
        most_(most_for_a_peer(params, machine, blocks_)),
        few_(most_) {
        // Until 2.12 (group.cc) each message is divided among all of its peer's channels, which
        // then serve several peers at once.
        constexpr std::uint32_t kOneMessageAChannel = 21'300;
        while (params.nccl_version >= kOneMessageAChannel && few_ * machine.ranks > blocks_ &&
               few_ > 1)
            few_ /= 2;
        // Sends and receives do not support LL128, which a policy for all-reduces may request.
        asked_ = policy.protocol == Protocol::kLl128 ? Protocol::kAuto : policy.protocol;
    }
    [[nodiscard]] Protocol protocol(Bytes bytes) const {
        if (asked_ != Protocol::kAuto)
            return asked_;
        const std::uint32_t counted = by_payload() ? channels(bytes, Protocol::kSimple) : most_;
        return bytes.count() <= counted * kMostByLl ? Protocol::kLl : Protocol::kSimple;
    }
    /// Channels of a message whose exchange takes this protocol.
    [[nodiscard]] std::uint32_t channels_by(Bytes bytes, Protocol protocol) const {
        const bool as_simple = asked_ != Protocol::kAuto || by_payload();
        return channels(bytes, as_simple ? Protocol::kSimple : protocol);
    }
    /// Sets what the kernel has, given its channels of a peer, where a rank serves so many.
    void set_blocks(CollectiveConfig& choice, std::uint32_t served) const {
        auto& own = choice.of<NcclConfig>();
        choice.channels = std::min(blocks_, own.for_a_peer * served);
        own.peers_of_a_block = peers_at_once(choice, served);
    }

private:
    /// Later versions decide by the payload that a channel of Simple would carry. 2.28.7 does not
    /// yet: 4, 8 and 64 GB300 run LL up to 512 KiB a peer (nccl_issues.csv, gb300_*_oci_a2a).
    [[nodiscard]] bool by_payload() const {
        constexpr std::uint32_t kByPayload = 22'900;
        return params_.nccl_version >= kByPayload;
    }
    /// A peer's bytes are divided into parts, one per channel: normally `few_`, at most `most_`.
    [[nodiscard]] std::uint32_t channels(Bytes bytes, Protocol protocol) const {
        const bool across = machine_.machines > 1;
        const std::uint64_t step = step_of(params_, machine_, protocol);
        const std::uint64_t shortest = across ? step / 2 : step / 8;
        const std::uint64_t longest = across ? step : step * 32;
        auto channels = static_cast<std::uint32_t>(
            std::clamp<std::uint64_t>(ceil_of(bytes.count(), shortest), 1, few_));
        while (ceil_of(bytes.count(), channels) > longest && channels <= most_ / 2)
            channels *= 2;
        return channels;
    }
    static std::uint64_t ceil_of(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

    const CollectiveParams& params_;
    const MachineView& machine_;
    std::uint32_t blocks_;
    std::uint32_t most_;
    std::uint32_t few_;
    Protocol asked_ = Protocol::kAuto;
};

}  // namespace

bool is_exchange(CollectiveKind kind) {
    return kind == CollectiveKind::kAllToAll || kind == CollectiveKind::kSendReceive ||
           kind == CollectiveKind::kGather || kind == CollectiveKind::kScatter;
}

std::uint32_t peers_at_once(const CollectiveConfig& choice, std::uint32_t peers) {
    return (channels_for_a_peer(choice) * peers + choice.channels - 1) / choice.channels;
}

double share_of_warps(std::uint32_t peers) {
    constexpr std::uint32_t kWarps = 20;
    constexpr double kOfARing = 16;
    constexpr std::uint32_t kUneven = 4;  // more warps of a peer than these are divided unevenly
    constexpr std::uint32_t kPosts = 3;   // a sender of so many warps has one that posts
    const std::uint32_t at_once = std::min(peers, kMostPeersAtOnce);
    const std::uint32_t warps = kWarps / at_once;
    const std::uint32_t receive = warps <= kUneven ? warps / 2 : (warps - 1) / 2;
    const std::uint32_t send = warps <= kUneven ? receive : receive + 1;
    const std::uint32_t sending = send >= kPosts ? send - 1 : send;
    return std::min(receive, sending) / kOfARing * at_once / peers;
}

namespace {

CollectiveConfig choice_of(
    const CollectiveParams& params, const MachineView& machine, const MessageRules& rules,
    Bytes bytes, std::uint32_t served) {
    CollectiveConfig choice;
    choice.protocol = rules.protocol(bytes);
    auto& own = choice.of<NcclConfig>();
    own.for_a_peer = rules.channels_by(bytes, choice.protocol);
    own.chunk = step_of(params, machine, choice.protocol);
    if (choice.protocol == Protocol::kLl)
        own.chunk /= 2;  // the other half holds flags
    rules.set_blocks(choice, served);
    return choice;
}

}  // namespace

CollectiveConfig choose_exchange(
    const CollectiveParams& params, const CollectivePolicy& policy, const MachineView& machine,
    Bytes bytes, std::uint32_t served) {
    return choice_of(params, machine, MessageRules(params, policy, machine), bytes, served);
}

UnevenChoice choose_uneven_exchange(
    const CollectiveParams& params, const CollectivePolicy& policy, const MachineView& machine,
    const UnevenExchange& exchange) {
    const MessageRules rules(params, policy, machine);
    std::uint64_t largest = 0;
    for (std::uint32_t from = 0; from < exchange.ranks; ++from)
        for (std::uint32_t to = 0; to < exchange.ranks; ++to)
            if (from != to)
                largest = std::max(largest, exchange.at(from, to));
    UnevenChoice found;
    found.choice = choice_of(params, machine, rules, Bytes(largest), machine.ranks);
    auto& own = found.choice.of<NcclConfig>();
    for (std::size_t pair = 0; pair < exchange.bytes.size(); ++pair) {
        const Bytes bytes(exchange.bytes[pair]);
        const bool stays = pair % (exchange.ranks + 1U) == 0;
        MessageChoice message;
        message.protocol = stays ? found.choice.protocol : rules.protocol(bytes);
        message.channels = rules.channels_by(bytes, message.protocol);
        own.for_a_peer = std::max(own.for_a_peer, message.channels);
        found.messages.push_back(message);
    }
    rules.set_blocks(found.choice, machine.ranks);
    return found;
}

}  // namespace switchfold
