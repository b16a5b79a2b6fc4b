// SPDX-License-Identifier: Apache-2.0
// Direct exchange of parts that differ: messages of two protocols, each over channels of its own
// number.
#include "models/collectives/fifo/block_network.h"
#include "models/collectives/fifo/bundle.h"
#include "models/collectives/running_collective.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

/// What is told of a member's messages by one protocol.
class ByProtocol final : public MemberListener {
public:
    /// A member is done when it is by both protocols. `rounds`: whether those of this one are told.
    struct Member {
        std::uint32_t left = 0;  ///< protocols by which it is not done
        Time end;
    };
    ByProtocol(MemberListener& listener, std::vector<Member>& members, bool rounds) :
        listener_(listener), members_(members), rounds_(rounds) {}
    void on_member_done(std::uint32_t position, Time end) override {
        Member& member = members_[position];
        member.end = std::max(member.end, end);
        if (--member.left == 0)
            listener_.on_member_done(position, member.end);
    }
    void on_round_done(
        std::uint32_t position, std::uint32_t left, std::uint32_t all, Time end) override {
        if (rounds_)
            listener_.on_round_done(position, left, all, end);
    }

private:
    MemberListener& listener_;
    std::vector<Member>& members_;
    bool rounds_;
};

/// The thread blocks are those of the even exchange, but for channels that a smaller message leaves
/// out. Messages by LL beside larger ones by Simple have blocks of their own, which do not share
/// their SMs' time: what they move is little.
class UnevenCollective final : public RunningCollective, public Functional {
public:
    UnevenCollective(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener);

    void join(std::uint32_t position, Time start) override {
        if (!results_.empty())
            results_[position] = buffers_[position];  // its own block stays in place
        // Only the round with the late rank waits.
        for (Network& network : networks_)
            if (network.blocks)
                network.blocks->join(position, start, start + spec_.peers_late);
    }
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override {
        std::vector<std::string> lines;
        for (const Network& network : networks_)
            if (network.blocks)
                for (std::string& line : network.blocks->blocked(limit - lines.size()))
                    lines.push_back(std::move(line));
        return lines;
    }
    [[nodiscard]] Bytes footprint() const override { return footprint_; }
    [[nodiscard]] std::vector<std::vector<float>>& buffers() override { return buffers_; }
    [[nodiscard]] std::vector<std::vector<float>>& results() override { return results_; }

private:
    struct Network {
        Protocol protocol = Protocol::kSimple;
        std::uint64_t chunk = 0;
        std::uint32_t bundle = 1;
        std::unique_ptr<ByProtocol> listener;
        std::unique_ptr<BlockNetwork> blocks;  ///< null: no message has this protocol
    };
    void
    add(const CollectiveEnvironment& environment, MemberListener& listener, Network& network,
        bool rounds);
    /// Of the messages by this protocol.
    [[nodiscard]] std::uint64_t largest_by(Protocol protocol) const;
    [[nodiscard]] std::optional<Part> part_of(
        const Network& network, std::uint32_t from, std::uint32_t to, std::uint32_t channel) const;

    CollectiveSpec spec_;
    std::vector<ByProtocol::Member> members_;
    std::array<Network, 2> networks_;
    std::vector<std::vector<float>> buffers_;
    std::vector<std::vector<float>> results_;
    Bytes footprint_;
};

UnevenCollective::UnevenCollective(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec,
    MemberListener& listener) :
    spec_(spec), members_(spec.ranks.size()) {
    if (environment.functional) {
        buffers_.resize(spec.ranks.size());
        results_.resize(spec.ranks.size());
    }
    const Protocol usual = spec.choice.protocol;
    networks_[0].protocol = usual;
    add(environment, listener, networks_[0], true);
    networks_[1].protocol = Protocol::kLl;
    if (usual != Protocol::kLl && largest_by(Protocol::kLl) > 0)
        add(environment, listener, networks_[1], false);
    const std::uint64_t touched = std::min(
        BlockNetwork::buffer_bytes(environment.params, usual) * spec.choice.channels,
        2 * networks_[0].blocks->wire(1024) * spec.bytes.count() / 1024);
    footprint_ = Bytes(touched);
}

std::uint64_t UnevenCollective::largest_by(Protocol protocol) const {
    std::uint64_t largest = 0;
    for (std::size_t pair = 0; pair < spec_.messages.size(); ++pair)
        if (spec_.messages[pair].protocol == protocol)
            largest = std::max(largest, spec_.parts->bytes[pair]);
    return largest;
}

void UnevenCollective::add(
    const CollectiveEnvironment& environment, MemberListener& listener, Network& network,
    bool rounds) {
    for (ByProtocol::Member& member : members_)
        ++member.left;
    network.listener = std::make_unique<ByProtocol>(listener, members_, rounds);
    network.chunk = std::min(
        BlockNetwork::max_chunk(environment.params, network.protocol, kStepShape),
        spec_.choice.of<NcclConfig>().chunk);
    const std::uint32_t for_a_peer = channels_for_a_peer(spec_.choice);
    const std::uint64_t usual = std::min(network.chunk, largest_by(network.protocol) / for_a_peer);
    network.bundle =
        bundle_of(spec_.rings.size(), for_a_peer, usual, environment.params.transfer_unit.count());
    network.blocks = std::make_unique<BlockNetwork>(
        environment, spec_, network.protocol, kStepShape, std::max(usual, kGrain), network.bundle,
        *network.listener);
    if (environment.functional)
        network.blocks->use_buffers(buffers_, results_);
    const std::uint32_t channels = for_a_peer / network.bundle;
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
        std::vector<BlockPlan> plans = plan_all_to_all(
            spec_.size(), channel,
            [&](std::uint32_t from, std::uint32_t to) {
                return part_of(network, from, to, channel);
            },
            spec_.share(), network.chunk * network.bundle);
        for (BlockPlan& plan : plans)
            plan.sm = (plan.round * channels + channel) %
                      std::max(1U, spec_.choice.channels / network.bundle);
        network.blocks->add_channel(std::move(plans));
    }
}

std::optional<Part> UnevenCollective::part_of(
    const Network& network, std::uint32_t from, std::uint32_t to, std::uint32_t channel) const {
    const MessageChoice& message = spec_.messages[std::size_t{from} * spec_.parts->ranks + to];
    const std::uint32_t channels = (message.channels + network.bundle - 1) / network.bundle;
    if (message.protocol != network.protocol || channel >= channels)
        return std::nullopt;
    const Part part = part_of_channel(spec_.parts->at(from, to), channels, channel, kGrain);
    return part.bytes == 0 ? std::nullopt : std::optional(part);
}

}  // namespace

std::unique_ptr<RunningCollective> make_uneven_exchange(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& /*refused*/) {
    return std::make_unique<UnevenCollective>(environment, spec, listener);
}

}  // namespace switchfold
