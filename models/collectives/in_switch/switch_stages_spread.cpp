// SPDX-License-Identifier: Apache-2.0
// The second half: heads store final pieces to all members, which copy them out.
#include "models/collectives/in_switch/switch_stages.h"
#include "sim/core/error.h"

#include <algorithm>

namespace switchfold {

std::uint64_t SwitchStages::can_store(std::uint32_t member, std::uint32_t c) {
    Block& b = block(member, c);
    if (b.unsent > 0)
        return kNotYet;
    const std::uint64_t most =
        std::max<std::uint64_t>(1, params_.outstanding_stores.count() / channels_[c].unit);
    std::uint64_t when = now();
    while (b.departures.size() >= most) {
        when = std::max(when, b.departures.front());
        b.departures.pop_front();
    }
    return when;
}

void SwitchStages::store(
    std::uint32_t member,
    std::uint32_t c,
    std::uint64_t loop,
    std::uint64_t offset,
    std::uint64_t bytes) {
    Block& b = block(member, c);
    const Channel& channel = channels_[c];
    const Part part = pieces_.piece(c, loop, member);
    const auto slot = static_cast<std::uint32_t>(loop % channel.slots.size());
    const auto& sources = work_.reduce ? buffers_.sums : buffers_.own;
    for (const std::uint64_t end = offset + bytes; offset < end;) {
        const auto some =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(channel.unit, end - offset));
        const PieceTag tag{c, slot, member, static_cast<std::uint32_t>(offset) | PieceTag::kStore};
        const std::uint32_t values =
            functional_ ? fabric_.values().put_part(
                              sources[positions_[member]], element(tag), some / element_bytes_)
                        : 0;
        const OptionalTime departure = fabric_.send(
            *group_,
            member,
            {.kind = PacketKind::kMulticastWrite,
             .payload = some,
             .tag = tag.pack(),
             .client = client_,
             .slot = (part.begin + offset) / channel.unit,
             .values = values});
        if (departure)
            b.departures.push_back(departure->count());
        else
            ++b.unsent;
        offset += some;
    }
    b.stored += bytes;
    if (b.stored == part.bytes) {
        b.stored = 0;
        ++b.spread;
        note_turn(member, c, kSpread);
    }
}

void SwitchStages::on_departure(std::uint64_t tag, Time departure) {
    const PieceTag piece = PieceTag::unpack(tag);
    if (abandoned_ || (piece.unit & PieceTag::kStore) == 0)
        return;
    Block& b = block(piece.head, piece.channel);
    b.departures.push_back(departure.count());
    if (--b.unsent > 0)
        return;
    if (work_.between != Between::kNothing)
        listener_.on_progress(positions_[piece.head], piece.channel);
    else if (b.spreading && !b.store_due)
        spread_on(piece.head, piece.channel);
}

void SwitchStages::spread_at(std::uint32_t member, std::uint32_t c, Time due) {
    block(member, c).store_due = true;
    post(Stage::kStore, member, c, due);
}

void SwitchStages::try_spread(std::uint32_t member, std::uint32_t c) {
    Block& b = block(member, c);
    while (b.spread < channels_[c].loops && pieces_.piece(c, b.spread, member).bytes == 0)
        ++b.spread;
    if (b.spreading || b.spread == channels_[c].loops ||
        b.spread - channels_[c].finished >= channels_[c].slots.size())
        return;
    b.spreading = true;
    spread_on(member, c);
}

void SwitchStages::spread_on(std::uint32_t member, std::uint32_t c) {
    Block& b = block(member, c);
    const std::uint64_t ready = can_store(member, c);
    if (ready == kNotYet)
        return;
    if (ready > now()) {
        spread_at(member, c, Time(ready));
        return;
    }
    const std::uint64_t left = pieces_.piece(c, b.spread, member).bytes - b.stored;
    const std::uint64_t bytes = std::min<std::uint64_t>(channels_[c].warps.spread_window, left);
    const Time read = port(member).access(bytes, 0);
    store(member, c, b.spread, b.stored, bytes);
    if (bytes < left) {
        spread_at(member, c, std::max(read, scheduler_.now() + params_.in_switch_copy_round));
        return;
    }
    b.spreading = false;
    try_spread(member, c);
}

void SwitchStages::on_store(const Packet& packet, std::uint32_t member, Time visible) {
    const PieceTag tag = PieceTag::unpack(packet.tag);
    Slot& slot = channels_[tag.channel].slots[tag.slot];
    if (packet.values != 0)
        fabric_.values().take(packet.values, buffers_.results[positions_[member]], element(tag));
    const std::uint64_t all = pieces_.piece(tag.channel, slot.loop, tag.head).bytes * n_;
    slot.delivered[tag.head] += packet.payload;
    slot.delivered_at[tag.head] = std::max(slot.delivered_at[tag.head], visible);
    SWITCHFOLD_CHECK(slot.delivered[tag.head] <= all, "more sums than a piece holds");
    if (slot.delivered[tag.head] == all)
        end_head(slot, tag.head, tag.channel);
}

void SwitchStages::end_head(Slot& slot, std::uint32_t head, std::uint32_t c) {
    // The last acknowledgement comes back to the head, whose post then goes out to all.
    const Time posted = slot.delivered_at[head] + way_ * 4 + params_.in_switch_sync;
    slot.heads_at = std::max(slot.heads_at, posted);
    if (++slot.heads == pieces_.working_heads(c, slot.loop))
        post(Stage::kSums, 0, c, slot.heads_at);
}

void SwitchStages::try_gather(std::uint32_t member, std::uint32_t c) {
    Block& b = block(member, c);
    Channel& channel = channels_[c];
    if (b.gathering || b.gathered == channel.loops)
        return;
    const Slot& slot = channel.slot(b.gathered);
    if (slot.loop != b.gathered || slot.heads < pieces_.working_heads(c, slot.loop) ||
        slot.heads_at > scheduler_.now())
        return;
    b.gathering = true;
    b.gather_piece = 0;
    post(Stage::kGather, member, c, copy_piece(member, c, b.gathered, 0, true));
}

void SwitchStages::end_gather(std::uint32_t member, std::uint32_t c) {
    Block& b = block(member, c);
    if (++b.gather_piece < pieces_.working_heads(c, b.gathered)) {
        post(Stage::kGather, member, c, copy_piece(member, c, b.gathered, b.gather_piece, true));
        return;
    }
    b.gathering = false;
    end_loop(member, c, b.gathered++);
    try_gather(member, c);
}

}  // namespace switchfold
