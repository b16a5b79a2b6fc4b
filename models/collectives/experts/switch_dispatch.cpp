// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "models/collectives/experts/deepep_normal.h"
#include "models/collectives/experts/ring_buffers.h"
#include "models/collectives/experts/switch_experts.h"

#include <algorithm>
#include <limits>

namespace switchfold {

namespace {

/// A warp stores a token once to its group, or once to each destination. When all stores of a rank
/// have completed, it notifies the others.
class SwitchDispatch final : public SwitchExperts {
public:
    SwitchDispatch(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener) :
        SwitchExperts(environment, spec, listener), next_(std::size_t{n_} * blocks_), ranks_(n_) {
        if (functional_)
            for (auto& result : results_)
                std::fill(result.begin(), result.end(), std::numeric_limits<float>::quiet_NaN());
    }

private:
    struct Rank {
        std::uint64_t missing = 0;  ///< bytes not yet arrived
        std::uint64_t known = 0;    ///< ps at which it learns of the last arrival
    };
    void begin_blocks(std::uint64_t first) override {
        for (std::uint32_t from = 0; from < n_; ++from) {
            ranks_[from].known = first;
            for (std::uint32_t token = 0; token < routing_.tokens(from); ++token) {
                const ReductionGroup* group = group_of(from, token);
                ranks_[from].missing +=
                    (group != nullptr ? group->ranks.size()
                                      : routing_.destinations(from, token).size()) *
                    row_.all();
            }
            for (std::uint32_t b = 0; b < blocks_; ++b)
                post_wave(from, b, first);
            if (ranks_[from].missing == 0)
                rank_done(from, first);
        }
    }
    [[nodiscard]] TokenRange wave(std::uint32_t block) const {
        const std::uint32_t index = block % blocks_;
        const TokenRange part = channel_tokens(routing_.tokens(block / blocks_), blocks_, index);
        const std::uint32_t done = std::min(next_[block], part.count);
        return {part.first + done, std::min(warps_, part.count - done)};
    }
    /// Sends the block's next tokens once its warps have read and stored them.
    void post_wave(std::uint32_t from, std::uint32_t b, std::uint64_t start) {
        const std::uint32_t block = from * blocks_ + b;
        const TokenRange tokens = wave(block);
        if (tokens.count == 0)
            return;
        std::uint64_t stores = 0;
        for (std::uint32_t i = 0; i < tokens.count; ++i)
            stores += group_of(from, tokens.first + i) != nullptr
                          ? 1
                          : routing_.destinations(from, tokens.first + i).size();
        const std::uint64_t each = (stores + warps_ - 1) / warps_;
        const std::uint64_t served = port(from).access(tokens.count * row_.all(), 0).count();
        post(block, std::max(start + each * sender_row_time(params_, row_, false), served));
    }
    void on_stage(std::uint64_t tag) override {
        const auto block = static_cast<std::uint32_t>(tag);
        const std::uint32_t from = block / blocks_;
        const TokenRange tokens = wave(block);
        std::uint64_t left = now();
        for (std::uint32_t i = 0; i < tokens.count; ++i)
            left = std::max(left, send(from, tokens.first + i));
        next_[block] += tokens.count;
        post_wave(from, block % blocks_, left);
    }
    /// \returns when the last byte leaves.
    std::uint64_t send(std::uint32_t from, std::uint32_t token) {
        std::uint64_t left = now();
        if (const ReductionGroup* group = group_of(from, token)) {
            const std::uint32_t member = member_of(*group, spec_.ranks[from]);
            in_packets(from, token, [&](const Fabric::Transfer& part) {
                Fabric::Transfer transfer = part;
                transfer.kind = PacketKind::kMulticastWrite;
                if (const OptionalTime departure = fabric_.send(*group, member, transfer))
                    left = std::max(left, departure->count());
            });
            return left;
        }
        for (const std::uint16_t to : routing_.destinations(from, token)) {
            if (to == from) {
                const std::uint64_t written = port(from).access(0, row_.all()).count();
                if (functional_)
                    keep(from, token, to, token_numbers(from, token, 0));
                arrive(from, row_.all(), written);
                continue;
            }
            const Connection& way = route(from, to);
            in_packets(from, token, [&](const Fabric::Transfer& part) {
                if (const OptionalTime departure = fabric_.send(way, part))
                    left = std::max(left, departure->count());
            });
        }
        return left;
    }
    template <class Send>
    void in_packets(std::uint32_t from, std::uint32_t token, Send send_one) {
        for (std::uint64_t sent = 0; sent < row_.all(); sent += largest_) {
            Fabric::Transfer part;
            part.kind = PacketKind::kWrite;
            part.payload =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(largest_, row_.all() - sent));
            part.tag = std::uint64_t{from} << 32U | token;
            part.client = client_;
            part.slot = slot_++;
            if (functional_ && sent == 0)
                part.values = fabric_.values().put(token_numbers(from, token, 0));
            send_one(part);
        }
    }
    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override {
        const auto from = static_cast<std::uint32_t>(packet.tag >> 32U);
        const auto token = static_cast<std::uint32_t>(packet.tag);
        const std::uint32_t to = position_of(rank);
        if (packet.values != 0) {
            keep(from, token, to, fabric_.values().get(packet.values));
            fabric_.values().drop(packet.values);
        }
        const std::uint64_t way = to == from ? 0 : route(from, to).latency.count();
        arrive(from, packet.payload, visible.count() + way);
    }
    void on_departure(std::uint64_t /*tag*/, Time /*departure*/) override {}
    /// A sender that is not a destination itself receives a copy that is ignored.
    void keep(
        std::uint32_t from, std::uint32_t token, std::uint32_t to,
        const std::vector<float>& numbers) {
        const auto tokens = routing_.tokens_to(from, to);
        const auto at = std::lower_bound(tokens.begin(), tokens.end(), token);
        if (at == tokens.end() || *at != token)
            return;
        std::uint64_t row = static_cast<std::uint64_t>(at - tokens.begin());
        for (std::uint32_t before = 0; before < from; ++before)
            row += routing_.tokens_to(before, to).size();
        std::copy(
            numbers.begin(), numbers.end(),
            results_[to].begin() + static_cast<std::ptrdiff_t>(row * kTokenNumbers));
    }
    void arrive(std::uint32_t from, std::uint64_t bytes, std::uint64_t known) {
        Rank& rank = ranks_[from];
        SWITCHFOLD_CHECK(rank.missing >= bytes, "more arrives than was sent");
        rank.missing -= bytes;
        rank.known = std::max(rank.known, known);
        if (rank.missing == 0)
            rank_done(from, rank.known);
    }

    std::vector<std::uint32_t> next_;  ///< by rank and block: tokens sent
    std::vector<Rank> ranks_;
    std::uint64_t slot_ = 0;  ///< selects the stripe
};

}  // namespace

std::unique_ptr<RunningCollective> make_switch_dispatch(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec,
    MemberListener& listener) {
    return std::make_unique<SwitchDispatch>(environment, spec, listener);
}

}  // namespace switchfold
