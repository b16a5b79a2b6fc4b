// SPDX-License-Identifier: Apache-2.0
// The second half: heads store final pieces to all members.
#include "core/error.h"
#include "models/collectives/in_switch/switch_stages.h"

#include <algorithm>

namespace switchfold {

std::uint64_t SwitchStages::can_store(std::uint32_t member, std::uint32_t c) {
    StageBlock& b = block(member, c);
    if (b.unsent > 0)
        return kNotYet;
    const std::uint64_t most =
        std::max<std::uint64_t>(1, params_.outstanding_stores.count() / units_[c]);
    std::uint64_t when = now();
    while (b.departures.size() >= most) {
        when = std::max(when, b.departures.front());
        b.departures.pop_front();
    }
    return when;
}

void SwitchStages::store(
    std::uint32_t member, std::uint32_t c, std::uint64_t loop, std::uint64_t offset,
    std::uint64_t bytes) {
    StageBlock& b = block(member, c);
    const Part part = pieces_.piece(c, loop, member);
    const std::uint32_t slot = loops_.channel(c).slot_of(loop);
    if (b.stored == 0)
        loops_.expect(c, loop, member, part.bytes * group_in(c, loop).members);
    const auto& sources = work_.reduce ? buffers_.sums : buffers_.own;
    for (const std::uint64_t end = offset + bytes; offset < end;) {
        const auto some =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(units_[c], end - offset));
        const PieceTag tag{c, slot, member, static_cast<std::uint32_t>(offset) | PieceTag::kStore};
        const std::uint32_t values =
            functional_ ? fabric_.values().put_part(
                              sources[positions_[member]], element(tag), some / element_bytes_)
                        : 0;
        const OptionalTime departure = fabric_.send(
            group_in(c, loop), member,
            {.kind = PacketKind::kMulticastWrite,
             .payload = some,
             .tag = tag.pack(),
             .client = client_,
             .slot = (part.begin + offset) / work_.warps[c].round,
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
        loops_.end_store(member, c);
    }
}

void SwitchStages::on_departure(std::uint64_t tag, Time departure) {
    const PieceTag piece = PieceTag::unpack(tag);
    if (abandoned_ || (piece.unit & PieceTag::kStore) == 0)
        return;
    StageBlock& b = block(piece.head, piece.channel);
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
    scheduler_.at(std::max(due, scheduler_.now()), *this, std::uint64_t{c} << 32U | member);
    ++stores_due_;
}

void SwitchStages::on_event(std::uint64_t tag) {
    --stores_due_;
    if (abandoned_)
        return;
    const auto member = static_cast<std::uint32_t>(tag);
    const auto c = static_cast<std::uint32_t>(tag >> 32U);
    block(member, c).store_due = false;
    spread_on(member, c);
}

void SwitchStages::try_spread(std::uint32_t member, std::uint32_t c) {
    StageBlock& b = block(member, c);
    NvlsBlock& loop = loops_.block(member, c);
    const NvlsChannel& channel = loops_.channel(c);
    while (loop.stored < channel.loops && pieces_.piece(c, loop.stored, member).bytes == 0)
        ++loop.stored;
    if (b.spreading || loop.stored == channel.loops ||
        loop.stored - channel.finished >= channel.slots.size())
        return;
    b.spreading = true;
    spread_on(member, c);
}

void SwitchStages::spread_on(std::uint32_t member, std::uint32_t c) {
    StageBlock& b = block(member, c);
    const std::uint64_t ready = can_store(member, c);
    if (ready == kNotYet)
        return;
    if (ready > now()) {
        spread_at(member, c, Time(ready));
        return;
    }
    const std::uint64_t loop = loops_.block(member, c).stored;
    const std::uint64_t left = pieces_.piece(c, loop, member).bytes - b.stored;
    const std::uint64_t bytes = std::min<std::uint64_t>(work_.warps[c].spread_window, left);
    const Time read = port(member).access(bytes, 0);
    store(member, c, loop, b.stored, bytes);
    if (bytes < left) {
        const Time round = copy_round_time(params_, Bytes(work_.warps[c].spread_window));
        spread_at(member, c, std::max(read, scheduler_.now() + round));
        return;
    }
    b.spreading = false;
    try_spread(member, c);
}

void SwitchStages::on_store(const Packet& packet, std::uint32_t member, Time visible) {
    const PieceTag tag = PieceTag::unpack(packet.tag);
    if (packet.values != 0)
        fabric_.values().take(packet.values, buffers_.results[positions_[member]], element(tag));
    loops_.delivered(tag.channel, tag.slot, tag.head, packet.payload, visible);
}

}  // namespace switchfold
