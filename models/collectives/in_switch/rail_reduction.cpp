// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch/rail_reduction.h"

#include "core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace switchfold {

RailReduction::RailReduction(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec,
    std::unique_ptr<ReductionGroup> group, Rail rail, const NvlsChunks& pieces,
    StageBuffers& buffers, RailListener& listener) :
    fabric_(environment.fabric),
    scheduler_(environment.fabric.scheduler()),
    params_(environment.params),
    ports_(environment.ports),
    group_(std::move(group)),
    client_(fabric_.add_client(*this)),
    rail_(std::move(rail)),
    pieces_(pieces),
    buffers_(buffers),
    listener_(listener),
    unit_(static_cast<std::uint32_t>(environment.params.transfer_unit.count())),
    element_bytes_(spec.element_bytes),
    functional_(environment.functional),
    heads_(rail_.members.size()) {
    arrange();
    std::uint64_t under_way = 0;  // at most, of a head
    for (std::uint32_t c = 0; c < pieces.channels(); ++c)
        for (std::uint64_t loop = 0; loop < std::min<std::uint64_t>(params_.steps, pieces.loops(c));
             ++loop)
            under_way += pieces.piece(c, loop, rail_.number).bytes;
    // Where tables can be full each of their lines waits alone, whatever a packet may be.
    if (fabric_.push_room(*group_) < under_way)
        unit_ = static_cast<std::uint32_t>(fabric_.reduction_line(*group_).count());
    for (Head& head : heads_) {
        head.added.assign(pieces.channels(), 0);
        head.arrived.assign(std::size_t{pieces.channels()} * params_.steps, 0);
        head.arrived_at.assign(head.arrived.size(), 0);
        head.complete.assign(head.arrived.size(), false);
        head.finals.assign(pieces.channels(), 0);
    }
}

RailReduction::~RailReduction() {
    fabric_.remove_client(client_);
    fabric_.remove_group(*group_);
}

void RailReduction::arrange() {
    std::uint64_t loops = 0;
    for (std::uint32_t c = 0; c < pieces_.channels(); ++c)
        loops = std::max(loops, pieces_.loops(c));
    order_.clear();
    for (std::uint64_t loop = 0; loop < loops; ++loop)
        for (std::uint32_t c = 0; c < pieces_.channels(); ++c)
            if (loop < pieces_.loops(c) && pieces_.piece(c, loop, rail_.number).bytes > 0)
                order_.push_back({c, loop});
}

void RailReduction::abandon() {
    abandoned_ = true;
    fabric_.flush_group(*group_);
}

std::uint64_t RailReduction::serve(Head& head, std::uint64_t when) const {
    head.proxy_free = std::max(head.proxy_free, when) + params_.proxy_overhead.count();
    return head.proxy_free;
}

void RailReduction::add(
    std::uint32_t machine, std::uint32_t channel, std::uint64_t loop, std::uint64_t when) {
    Head& head = heads_[machine];
    SWITCHFOLD_CHECK(head.added[channel] == loop, "a chunk is added out of order");
    ++head.added[channel];
    head.added_at = std::max(head.added_at, when);
    while (head.next < order_.size() &&
           head.added[order_[head.next].channel] > order_[head.next].loop) {
        const std::uint64_t posted = serve(head, head.added_at);
        scheduler_.at(Time(posted), *this, std::uint64_t{machine} << 40U | head.next);
        ++head.next;
    }
}

void RailReduction::on_event(std::uint64_t tag) {
    if (!abandoned_)
        push(static_cast<std::uint32_t>(tag >> 40U), order_[tag & ((1ULL << 40U) - 1)]);
}

void RailReduction::push(std::uint32_t machine, const Chunk& chunk) {
    const std::uint32_t position = rail_.members[machine];
    const Part part = pieces_.piece(chunk.channel, chunk.loop, rail_.number);
    const auto n = static_cast<std::uint32_t>(heads_.size());
    ports_[group_->ranks[machine]]->access(part.bytes, 0);
    for (std::uint64_t offset = 0; offset < part.bytes; offset += unit_) {
        const auto bytes =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(unit_, part.bytes - offset));
        const PieceTag tag{
            chunk.channel, static_cast<std::uint32_t>(chunk.loop % params_.steps), rail_.number,
            static_cast<std::uint32_t>(offset)};
        // Neighbours leave by different ports, so that all adders work.
        const std::uint64_t unit = (part.begin + offset) / unit_;
        const std::uint64_t element = (part.begin + offset) / element_bytes_;
        fabric_.send(
            *group_, machine,
            {.kind = PacketKind::kReducePush,
             .payload = bytes,
             .tag = tag.pack(),
             .client = client_,
             .slot = unit,
             .values = functional_ ? fabric_.values().put_part(
                                         buffers_.sums[position], element, bytes / element_bytes_)
                                   : 0,
             .home = static_cast<std::uint32_t>((unit + unit / group_->stripes.size()) % n)});
    }
}

void RailReduction::on_packet(const Packet& packet, std::uint32_t rank, Time visible) {
    if (abandoned_) {
        fabric_.values().drop(packet.values);
        return;
    }
    if (packet.kind != PacketKind::kMulticastCopy) {
        // Nobody adds up on a host what switches gave up.
        fabric_.values().drop(packet.values);
        listener_.on_rail_failure();
        return;
    }
    const auto machine = static_cast<std::uint32_t>(
        std::lower_bound(group_->ranks.begin(), group_->ranks.end(), rank) - group_->ranks.begin());
    Head& head = heads_[machine];
    const PieceTag tag = PieceTag::unpack(packet.tag);
    const std::size_t slot = std::size_t{tag.channel} * params_.steps + tag.slot;
    // Of the loops that can be in this slot the one that this head has added last.
    const std::uint64_t last = head.added[tag.channel] - 1;
    const std::uint64_t loop = last - (last + params_.steps - tag.slot) % params_.steps;
    const Part part = pieces_.piece(tag.channel, loop, rail_.number);
    if (packet.values != 0)
        fabric_.values().take(
            packet.values, buffers_.sums[rail_.members[machine]],
            (part.begin + tag.unit) / element_bytes_);
    head.arrived[slot] += packet.payload;
    head.arrived_at[slot] = std::max(head.arrived_at[slot], visible.count());
    SWITCHFOLD_CHECK(head.arrived[slot] <= part.bytes, "more sums than a chunk holds");
    if (head.arrived[slot] < part.bytes)
        return;
    head.complete[slot] = true;
    tell(machine, tag.channel);
}

void RailReduction::tell(std::uint32_t machine, std::uint32_t c) {
    Head& head = heads_[machine];
    for (;;) {
        const std::size_t slot = std::size_t{c} * params_.steps + head.finals[c] % params_.steps;
        if (!head.complete[slot])
            return;
        const std::uint64_t told =
            serve(head, head.arrived_at[slot]) + params_.simple.network_overhead.count();
        head.complete[slot] = false;
        head.arrived[slot] = head.arrived_at[slot] = 0;
        ++head.finals[c];
        listener_.on_final(machine, rail_.number, c, told);
    }
}

std::vector<std::string> RailReduction::blocked(std::size_t limit) const {
    std::vector<std::string> lines;
    for (std::size_t machine = 0; machine < heads_.size() && lines.size() < limit; ++machine)
        if (heads_[machine].next < order_.size())
            lines.push_back(fmt::format(
                "rank {} has handed {} of {} chunks to the network", group_->ranks[machine],
                heads_[machine].next, order_.size()));
    return lines;
}

}  // namespace switchfold
