// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "models/collectives/experts/ring_buffers.h"
#include "models/collectives/experts/switch_experts.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace switchfold {

namespace {

/// Values whose sums are exact in any order, because switches add in order of arrival.
std::vector<float> exact_numbers(std::uint32_t from, std::uint32_t token, std::uint32_t rank) {
    std::vector<float> numbers = token_numbers(from, token, rank);
    for (float& number : numbers)
        number = std::floor(number * 8) / 8;
    return numbers;
}

/// A block requests the sums of its tokens: the switch reads every copy of the group and returns
/// their sum; a sender without a copy of its own contributes zeros. Without a group, the block
/// loads each copy and adds.
class SwitchCombine final : public SwitchExperts {
public:
    SwitchCombine(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener) :
        SwitchExperts(environment, spec, listener), state_(std::size_t{n_} * blocks_), busy_(n_) {
        for (std::uint32_t block = 0; block < state_.size(); ++block)
            busy_[block / blocks_] += tokens_of(block).count > 0 ? 1 : 0;
        for (std::uint32_t rank = 0; functional_ && rank < n_; ++rank)
            sums_.emplace_back(std::size_t{routing_.tokens(rank)} * kTokenNumbers);
    }
    [[nodiscard]] std::string wrong_result() const override {
        for (std::uint32_t from = 0; from < n_; ++from)
            for (std::uint32_t token = 0; token < routing_.tokens(from); ++token) {
                std::vector<float> sum(kTokenNumbers);
                for (const std::uint16_t rank : routing_.destinations(from, token)) {
                    const std::vector<float> copy = exact_numbers(from, token, rank);
                    for (std::size_t i = 0; i < kTokenNumbers; ++i)
                        sum[i] += copy[i];
                }
                for (std::size_t i = 0; i < kTokenNumbers; ++i)
                    if (results_[from][token * kTokenNumbers + i] !=
                        round_to(ElementType::kBfloat16, sum[i]))
                        return fmt::format(
                            "the sum of token {} of rank {} is {}; expected {}", token, from,
                            results_[from][token * kTokenNumbers + i],
                            round_to(ElementType::kBfloat16, sum[i]));
            }
        return {};
    }

private:
    struct Block {
        std::uint32_t next = 0;     ///< index of its next token
        std::uint64_t offset = 0;   ///< bytes of that token already requested
        std::uint64_t open = 0;     ///< bytes requested but not received
        std::uint64_t missing = 0;  ///< bytes of all its tokens not received
        std::uint64_t free_at = 0;  ///< ps at which its warps have added what arrived
        bool asking = false;
    };
    void begin_blocks(std::uint64_t first) override {
        for (std::uint32_t block = 0; block < state_.size(); ++block) {
            const std::uint32_t from = block / blocks_;
            const TokenRange part = tokens_of(block);
            Block& b = state_[block];
            for (std::uint32_t i = 0; i < part.count; ++i)
                b.missing += answers(from, part.first + i) * row_.all();
            b.free_at = first;
            post(block, first + params_.copy_round.count());
        }
        for (std::uint32_t from = 0; from < n_; ++from)
            if (busy_[from] == 0)
                rank_done(from, first);
    }
    [[nodiscard]] TokenRange tokens_of(std::uint32_t block) const {
        return channel_tokens(routing_.tokens(block / blocks_), blocks_, block % blocks_);
    }
    /// Answers for each piece of a token: one sum, or all copies.
    [[nodiscard]] std::uint64_t answers(std::uint32_t from, std::uint32_t token) const {
        return group_of(from, token) != nullptr ? 1 : routing_.destinations(from, token).size();
    }
    void on_stage(std::uint64_t tag) override {
        const auto block = static_cast<std::uint32_t>(tag);
        if ((tag & kEnded) == 0)
            return ask(block);
        const std::uint32_t from = block / blocks_;
        if (--busy_[from] > 0)
            return;
        for (std::uint32_t token = 0; functional_ && token < routing_.tokens(from); ++token)
            for (std::size_t i = token * kTokenNumbers; i < (token + 1) * kTokenNumbers; ++i)
                results_[from][i] = round_to(ElementType::kBfloat16, sums_[from][i]);
        rank_done(from, now());
    }
    /// Issues requests up to the block's limit on bytes in flight.
    void ask(std::uint32_t block) {
        Block& b = state_[block];
        const std::uint32_t from = block / blocks_;
        const TokenRange part = tokens_of(block);
        if (b.asking)
            return;
        b.asking = true;
        while (b.next < part.count) {
            const std::uint32_t token = part.first + b.next;
            const auto bytes = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(largest_, row_.all() - b.offset));
            const std::uint64_t more = answers(from, token) * bytes;
            if (b.open > 0 && b.open + more > machine_.outstanding_loads.count())
                break;
            b.open += more;
            const bool first = b.offset == 0;
            b.offset += bytes;
            if (b.offset == row_.all()) {
                b.offset = 0;
                ++b.next;
            }
            request(block, token, bytes, first);
        }
        b.asking = false;
    }
    void request(std::uint32_t block, std::uint32_t token, std::uint32_t bytes, bool first) {
        const std::uint32_t from = block / blocks_;
        Fabric::Transfer transfer;
        transfer.payload = bytes;
        transfer.tag = std::uint64_t{from} << 40U | std::uint64_t{token} << 1U | (first ? 1 : 0);
        transfer.client = client_;
        transfer.slot = slot_++;
        if (const ReductionGroup* group = group_of(from, token)) {
            transfer.kind = PacketKind::kReduceRequest;
            fabric_.send(*group, member_of(*group, spec_.ranks[from]), transfer);
            return;
        }
        for (const std::uint16_t to : routing_.destinations(from, token)) {
            if (to == from) {
                const Time served = port(from).access(bytes, 0);
                if (functional_ && first)
                    add(from, token, exact_numbers(from, token, to));
                came(block, bytes, served.count());
                continue;
            }
            transfer.kind = PacketKind::kReadRequest;
            fabric_.send(route(from, to), transfer);
        }
    }
    void on_packet(const Packet& packet, std::uint32_t /*rank*/, Time visible) override {
        if (packet.kind == PacketKind::kReduceResult && packet.count == 0)
            throw SimulationError(
                fabric_.name(), scheduler_.now(), "a reduction unit timed out under a combine");
        const auto from = static_cast<std::uint32_t>(packet.tag >> 40U);
        const auto token = static_cast<std::uint32_t>(packet.tag >> 1U & 0x7F'FFFF'FFFFULL);
        if (packet.values != 0) {
            add(from, token, fabric_.values().get(packet.values));
            fabric_.values().drop(packet.values);
        }
        const std::uint64_t each = (std::uint64_t{routing_.tokens(from)} + blocks_ - 1) / blocks_;
        const auto block = static_cast<std::uint32_t>(from * blocks_ + token / each);
        came(block, packet.payload, visible.count());
        ask(block);
    }
    /// The block's warps add received data and store sums.
    void came(std::uint32_t block, std::uint64_t bytes, std::uint64_t visible) {
        Block& b = state_[block];
        SWITCHFOLD_CHECK(b.open >= bytes && b.missing >= bytes, "more comes than was asked for");
        b.open -= bytes;
        b.missing -= bytes;
        const std::uint64_t busy = serialization_time(Bytes(bytes), params_.reduce_rate).count();
        b.free_at = std::max(b.free_at + busy, visible);
        if (b.missing > 0)
            return;
        const std::uint32_t from = block / blocks_;
        const std::uint64_t written =
            port(from).access(0, tokens_of(block).count * row_.all()).count();
        post(kEnded | block, std::max(b.free_at + params_.copy_round.count(), written));
    }
    void add(std::uint32_t from, std::uint32_t token, const std::vector<float>& numbers) {
        for (std::size_t i = 0; i < kTokenNumbers; ++i)
            sums_[from][token * kTokenNumbers + i] += numbers[i];
    }
    std::uint32_t supply(const Packet& packet, std::uint32_t rank) override {
        if (!functional_)
            return 0;
        const auto from = static_cast<std::uint32_t>(packet.tag >> 40U);
        const auto token = static_cast<std::uint32_t>(packet.tag >> 1U & 0x7F'FFFF'FFFFULL);
        const auto to = routing_.destinations(from, token);
        const std::uint32_t position = position_of(rank);
        // Numbers go with the first part of what a switch fetches in several.
        const bool later = packet.kind == PacketKind::kReduceFetch && fetched_from(packet) > 0;
        std::vector<float> numbers(later ? 0 : kTokenNumbers);
        if (!later && (packet.tag & 1U) != 0 &&
            std::find(to.begin(), to.end(), position) != to.end())
            numbers = exact_numbers(from, token, position);
        return fabric_.values().put(std::move(numbers));
    }
    void on_departure(std::uint64_t /*tag*/, Time /*departure*/) override {}

    static constexpr std::uint64_t kEnded = 1ULL << 62U;
    std::vector<Block> state_;         ///< by rank and block
    std::vector<std::uint32_t> busy_;  ///< by rank: unfinished blocks
    std::vector<std::vector<float>> sums_;
    std::uint64_t slot_ = 0;  ///< selects the stripe
};

}  // namespace

std::unique_ptr<RunningCollective> make_switch_combine(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec,
    MemberListener& listener) {
    return std::make_unique<SwitchCombine>(environment, spec, listener);
}

}  // namespace switchfold
