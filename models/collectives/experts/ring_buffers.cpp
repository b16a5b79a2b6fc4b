// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/ring_buffers.h"

#include "core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

constexpr std::uint64_t kUnitsInChunk = 4;   // packets
constexpr std::uint64_t kLargestRow = 16;    // transfer units
constexpr std::uint64_t kUnitsInBuffer = 4;  // per link
constexpr std::uint64_t kWaitsForDeparture = 2;

/// The range of the pair's tokens within the channel's part of the sender's tokens.
TokenRange range_of(std::span<const std::uint32_t> tokens, TokenRange part) {
    const auto from = std::lower_bound(tokens.begin(), tokens.end(), part.first);
    const auto to = std::lower_bound(from, tokens.end(), part.first + part.count);
    return {
        static_cast<std::uint32_t>(from - tokens.begin()), static_cast<std::uint32_t>(to - from)};
}

}  // namespace

TokenRange channel_tokens(std::uint32_t tokens, std::uint32_t channels, std::uint32_t channel) {
    const std::uint64_t each = (std::uint64_t{tokens} + channels - 1) / channels;
    const std::uint64_t first = std::min<std::uint64_t>(each * channel, tokens);
    return {
        static_cast<std::uint32_t>(first),
        static_cast<std::uint32_t>(std::min<std::uint64_t>(each, tokens - first))};
}

RingBuffers::RingBuffers(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    const RingShape& shape) :
    ExpertsCollective(environment, spec, listener),
    shape_(shape),
    channels_(shape.channels),
    chunk_(shape.chunk),
    flows_(std::size_t{channels_} * n_ * n_),
    unit_(0) {
    std::uint32_t most = 0;
    for (std::uint32_t channel = 0; channel < channels_; ++channel) {
        for (std::uint32_t from = 0; from < n_; ++from)
            for (std::uint32_t to = 0; to < n_; ++to) {
                const TokenRange part =
                    channel_tokens(routing_.tokens(combine_ ? to : from), channels_, channel);
                TokenFlow& f = flow(channel, from, to);
                f.channel = channel;
                f.from = from;
                f.to = to;
                f.range = range_of(
                    combine_ ? routing_.tokens_to(to, from) : routing_.tokens_to(from, to), part);
                most = std::max(most, f.range.count);
                if (from != to)
                    f.route = &fabric_.connect(spec_.ranks[from], spec_.ranks[to]);
                // Buffers of different flows begin on different stripes.
                f.units = index_of(f) * 7;
                if (f.range.count > 0)
                    add_part(from);
            }
    }
    const std::uint64_t chunk_bytes =
        std::uint64_t{std::min(chunk_, std::max(1U, most))} * shape_.row;
    const std::uint64_t transfer = machine_.transfer_unit.count();
    const std::uint64_t largest =
        std::min(transfer * kLargestRow, fabric_.smallest_buffer().count() / kUnitsInBuffer);
    unit_ = std::clamp<std::uint64_t>(
        chunk_bytes / kUnitsInChunk, std::min(transfer, largest), largest);
}

Bytes RingBuffers::footprint() const {
    return Bytes(std::uint64_t{channels_} * n_ * shape_.places * shape_.row);
}

void RingBuffers::begin(Time start) {
    const Time first = start + shape_.start;
    for (TokenFlow& f : flows_)
        if (f.range.count > 0)
            post(Stage::kBegin, index_of(f), first.count() + (shape_.lines ? 0 : 2 * way(f)));
    for (std::uint32_t position = 0; position < n_; ++position)
        finish_if_idle(position);
}

void RingBuffers::post(Stage stage, std::uint32_t index, std::uint64_t at) {
    scheduler_.at(
        Time(std::max(at, now())), *this, static_cast<std::uint64_t>(stage) << 32U | index);
}

void RingBuffers::post_received(std::uint32_t index, std::uint64_t at) {
    post(Stage::kReceived, index, at);
}

void RingBuffers::on_event(std::uint64_t tag) {
    const auto index = static_cast<std::uint32_t>(tag);
    switch (static_cast<Stage>(tag >> 32U)) {
    case Stage::kBegin:
        return begin_chunk(flows_[index]);
    case Stage::kUnit:
        return send_unit(flows_[index]);
    case Stage::kRelease: {
        TokenFlow& f = flows_[index];
        // The tail update crosses the link; the sender continues.
        if (!shape_.lines || f.route == nullptr)
            post(Stage::kTail, index, now() + way(f));
        if (f.all_begun())
            return part_done(f.from);
        return look_for_room(f);
    }
    case Stage::kTail:
        return move_tail(flows_[index]);
    case Stage::kReceived:
        return on_received(index);
    }
}

void RingBuffers::move_tail(TokenFlow& f) {
    bool more = false;
    while (!f.under_way.empty() && f.under_way.front().end <= f.arrived) {
        f.tail += f.under_way.front().tokens;
        f.batches.push_back(f.under_way.front());
        f.under_way.pop_front();
        more = true;
    }
    if (more)
        on_tail(f);
}

void RingBuffers::look_for_room(TokenFlow& f) {
    const std::uint32_t left = f.range.count - f.begun;
    // A dispatch requires room for a full chunk, even for the last one.
    const std::uint32_t wanted = combine_ || shape_.lines ? std::min(chunk_, left) : chunk_;
    if (f.begun - f.head + wanted > shape_.places) {
        f.waits_for_room = true;
        return;
    }
    // The head is stored with the buffer, so the sender loads it over the link.
    post(Stage::kBegin, index_of(f), now() + (shape_.lines ? 0 : 2 * way(f)));
}

void RingBuffers::free_places(TokenFlow& f, std::uint32_t tokens) {
    f.head += tokens;
    SWITCHFOLD_CHECK(f.head <= f.tail, "places are freed that hold no token");
    if (!f.waits_for_room)
        return;
    f.waits_for_room = false;
    look_for_room(f);
}

void RingBuffers::begin_chunk(TokenFlow& f) {
    f.chunk = std::min(chunk_, f.range.count - f.begun);
    f.sent_before += f.bytes;
    f.bytes = f.chunk * shape_.row;
    f.sent = 0;
    f.acknowledged = 0;
    f.duration = copy_time(f);
    std::uint32_t values = 0;
    if (functional_)
        values = fabric_.values().put(numbers_of(f.from, f.to, f.range.first + f.begun, f.chunk));
    f.under_way.push_back({f.chunk, f.sent_before + f.bytes, values});
    f.begun += f.chunk;
    f.free_at = now();
    send_unit(f);
}

void RingBuffers::send_unit(TokenFlow& f) {
    const std::uint64_t bytes = std::min(unit_, f.bytes - f.sent);
    const bool local = f.route == nullptr;
    const std::uint64_t served = port(f.from).access(bytes, local ? bytes : 0).count();
    f.sent += bytes;
    f.free_at = std::max(f.free_at + f.duration * bytes / f.bytes, served);
    if (local) {
        f.arrived += bytes;
        f.acknowledged = f.free_at;
    } else {
        const OptionalTime departure = fabric_.send(
            *f.route, {.kind = PacketKind::kWrite,
                       .payload = static_cast<std::uint32_t>(bytes),
                       .tag = index_of(f),
                       .client = client_,
                       .slot = f.units++});
        f.blocked = !departure;
        // Stores wait if the path to the links is full.
        f.free_at =
            std::max(f.free_at, std::exchange(f.departed, departure ? departure->count() : 0));
    }
    if (!f.blocked)
        after_unit(f);
}

void RingBuffers::after_unit(TokenFlow& f) {
    if (f.sent < f.bytes)
        post(Stage::kUnit, index_of(f), f.free_at);
    else if (shape_.lines)
        post(Stage::kRelease, index_of(f), f.free_at);
    else
        release_if_stored(f);
}

void RingBuffers::on_departure(std::uint64_t tag, Time departure) {
    TokenFlow& f = flows_[tag];
    f.blocked = false;
    f.departed = departure.count();
    f.free_at = std::max(f.free_at, departure.count());
    after_unit(f);
}

void RingBuffers::on_packet(const Packet& packet, std::uint32_t /*rank*/, Time visible) {
    TokenFlow& f = flows_[packet.tag];
    f.arrived += packet.payload;
    SWITCHFOLD_CHECK(f.arrived <= f.sent_before + f.bytes, "more arrives than was sent");
    if (shape_.lines)
        return post(Stage::kTail, index_of(f), visible.count());
    f.acknowledged = std::max(f.acknowledged, visible.count() + way(f));
    release_if_stored(f);
}

void RingBuffers::release_if_stored(TokenFlow& f) {
    if (f.sent == f.bytes && f.arrived == f.sent_before + f.bytes && !f.blocked)
        post(Stage::kRelease, index_of(f), std::max(f.free_at, f.acknowledged));
}

std::vector<std::string> RingBuffers::blocked(std::size_t limit) const {
    std::vector<std::string> lines;
    for (const TokenFlow& f : flows_)
        if (f.head < f.range.count && lines.size() < limit)
            lines.push_back(fmt::format(
                "rank {} channel {} to rank {}: sent {}, taken {} of {} tokens",
                spec_.ranks[f.from], f.channel, spec_.ranks[f.to], f.begun, f.head, f.range.count));
    return lines;
}

}  // namespace switchfold
