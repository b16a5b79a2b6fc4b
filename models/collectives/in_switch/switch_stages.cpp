// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch/switch_stages.h"

#include "core/error.h"

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

std::vector<RankPort*>
ports_of(const std::vector<std::uint32_t>& ranks, const std::vector<RankPort*>& all) {
    std::vector<RankPort*> ports;
    for (const std::uint32_t rank : ranks)
        ports.push_back(all[rank]);
    return ports;
}

std::vector<NvlsCopyWarps> copy_warps(const std::vector<StageWarps>& channels) {
    std::vector<NvlsCopyWarps> copies;
    for (const StageWarps& warps : channels)
        copies.push_back({warps.scatter_workers, warps.gather_workers});
    return copies;
}

}  // namespace

SwitchStages::SwitchStages(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec,
    const std::vector<std::uint32_t>& members, DomainGroups groups, const NvlsChunks& pieces,
    Work work, StageBuffers& buffers, SwitchStagesListener& listener) :
    fabric_(environment.fabric),
    scheduler_(environment.fabric.scheduler()),
    ports_(environment.ports),
    params_(environment.params),
    positions_(members),
    pieces_(pieces),
    work_(std::move(work)),
    buffers_(buffers),
    listener_(listener),
    groups_(std::move(groups)),
    client_(fabric_.add_client(*this)),
    n_(static_cast<std::uint32_t>(members.size())),
    element_bytes_(spec.element_bytes),
    functional_(environment.functional),
    loops_(
        {scheduler_, params_, ports_of(groups_.all->ranks, ports_), groups_.all->to_root(),
         groups_.all->members / n_},
        pieces, copy_warps(work_.warps), work_.copies, *this),
    blocks_(std::size_t{n_} * pieces.channels()),
    running_(members.size(), 0),
    end_(members.size()) {
    ranks_ = groups_.all->ranks;
    // A warp waits for what it asked for before it asks on, and one instruction stores no more.
    for (const StageWarps& warps : work_.warps)
        units_.push_back(
            std::min(warps.round, static_cast<std::uint32_t>(params_.transfer_unit.count())));
}

SwitchStages::~SwitchStages() {
    fabric_.remove_client(client_);
    groups_.remove(fabric_);
}

void SwitchStages::abandon() {
    abandoned_ = true;
    loops_.abandon();
    fabric_.flush_group(*groups_.all);
}

std::uint32_t SwitchStages::member_of(std::uint32_t rank) const {
    const auto at = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    return static_cast<std::uint32_t>(at - ranks_.begin());
}

std::uint64_t SwitchStages::element(const PieceTag& tag) {
    const std::uint64_t loop = loops_.channel(tag.channel).slots[tag.slot].loop;
    const Part part = pieces_.piece(tag.channel, loop, tag.head);
    return (part.begin + (tag.unit & ~PieceTag::kStore)) / element_bytes_;
}

void SwitchStages::join(std::uint32_t member, Time start) {
    running_[member] = loops_.busy_channels();
    end_[member] = start;
    if (functional_)
        buffers_.results[positions_[member]].resize(buffers_.own[positions_[member]].size());
    if (running_[member] == 0)
        listener_.on_stages_done(positions_[member], start);
    else
        loops_.join(member, 0, start);
}

void SwitchStages::on_joined(std::uint32_t member, std::uint32_t /*channel*/) {
    ++joined_;
    for (std::uint32_t c = 0; c < loops_.channels(); ++c) {
        if (work_.reduce)
            loops_.scatter(member, c);
        // Nobody's memory is written before its kernel runs: the first barrier of the reducing
        // half sees to that, where there is one.
        for (std::uint32_t m = 0; m < n_ && !work_.reduce && joined_ == n_; ++m)
            try_spread(m, c);
    }
}

void SwitchStages::on_freed(std::uint32_t c) {
    for (std::uint32_t member = 0; member < n_; ++member)
        if (work_.reduce)
            loops_.scatter(member, c);
        else
            try_spread(member, c);
}

void SwitchStages::on_posted(std::uint32_t member, std::uint32_t c) {
    if (work_.between != Between::kFused)
        try_reduce(member, c);
}

void SwitchStages::try_reduce(std::uint32_t member, std::uint32_t c) {
    const NvlsBlock& b = loops_.block(member, c);
    const std::uint64_t& posted = loops_.channel(c).posted;
    while (b.reduced < posted && !b.reducing && pieces_.piece(c, b.reduced, member).bytes == 0)
        end_reduce(member, c);
    if (!b.reducing && b.reduced < posted)
        reduce(member, c);
}

void SwitchStages::reduce(std::uint32_t member, std::uint32_t c) {
    block(member, c).complete = block(member, c).taken = 0;
    loops_.await_piece(member, c);
}

void SwitchStages::request(std::uint32_t member, std::uint32_t c) {
    NvlsBlock& b = loops_.block(member, c);
    const std::uint64_t taken = block(member, c).taken;
    const Part part = pieces_.piece(c, b.reduced, member);
    const std::uint32_t slot = loops_.channel(c).slot_of(b.reduced);
    while (b.requested < part.bytes && (b.requested == taken || b.requested - taken + units_[c] <=
                                                                    work_.warps[c].reduce_window)) {
        const auto bytes = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(units_[c], part.bytes - b.requested));
        const PieceTag tag{c, slot, member, static_cast<std::uint32_t>(b.requested)};
        fabric_.send(
            group_in(c, b.reduced), member,
            {.kind = PacketKind::kReduceRequest,
             .payload = bytes,
             .tag = tag.pack(),
             .client = client_,
             .slot = (part.begin + b.requested) / work_.warps[c].round});
        b.requested += bytes;
    }
}

void SwitchStages::on_packet(const Packet& packet, std::uint32_t rank, Time visible) {
    if (abandoned_)
        fabric_.values().drop(packet.values);
    else if (packet.kind != PacketKind::kReduceResult)
        on_store(packet, member_of(rank), visible);
    else if (packet.count == 0)
        listener_.on_unit_failure();
    else
        on_sum(packet, member_of(rank), visible);
}

std::uint32_t SwitchStages::supply(const Packet& packet, std::uint32_t rank) {
    if (!functional_)
        return 0;
    return fabric_.values().put_part(
        buffers_.own[positions_[member_of(rank)]],
        element(PieceTag::unpack(packet.tag)) + fetched_from(packet) / element_bytes_,
        packet.payload / element_bytes_);
}

void SwitchStages::on_sum(const Packet& packet, std::uint32_t member, Time visible) {
    const PieceTag tag = PieceTag::unpack(packet.tag);
    const std::uint32_t c = tag.channel;
    StageBlock& b = block(member, c);
    NvlsBlock& loop = loops_.block(member, c);
    if (packet.values != 0) {
        std::vector<float>& to =
            (work_.spread ? buffers_.sums : buffers_.results)[positions_[member]];
        to.resize(buffers_.own[positions_[member]].size());
        fabric_.values().take(packet.values, to, element(tag));
    }
    b.note_answer(tag.unit, units_[c], pieces_.piece(c, loop.reduced, member).bytes);
    loop.answered += packet.payload;
    if (work_.between != Between::kFused) {
        const Time written = port(member).access(0, packet.payload);
        b.through = std::max({b.through, visible.count(), written.count()});
        take(member, c, packet.payload);
    }
    if (work_.between != Between::kNothing)
        listener_.on_progress(positions_[member], c);
}

std::uint64_t SwitchStages::reduced(std::uint32_t member, std::uint32_t c, std::uint64_t loop) {
    const NvlsBlock& b = loops_.block(member, c);
    if (loop < b.reduced)
        return UINT64_MAX;
    return loop == b.reduced && b.reducing ? block(member, c).complete : 0;
}

void SwitchStages::take(std::uint32_t member, std::uint32_t c, std::uint64_t bytes) {
    const NvlsBlock& b = loops_.block(member, c);
    const std::uint64_t all = pieces_.piece(c, b.reduced, member).bytes;
    const std::uint64_t taken = block(member, c).taken += bytes;
    SWITCHFOLD_CHECK(taken <= b.answered, "sums are handed on before they are there");
    if (taken == all)
        end_reduce(member, c);
    else if (b.requested < all)
        request(member, c);
}

void SwitchStages::end_reduce(std::uint32_t member, std::uint32_t c) {
    const std::uint64_t loop = loops_.end_piece(member, c);
    if (!work_.spread)
        loops_.end_loop(member, c, loop);
    if (work_.between != Between::kFused)
        try_reduce(member, c);
}

void SwitchStages::on_channel_done(std::uint32_t member, std::uint32_t c) {
    // What the reducing half stores last may be in memory a little later.
    const Time through(work_.spread ? 0 : block(member, c).through);
    end_[member] = std::max({end_[member], through, scheduler_.now()});
    if (--running_[member] == 0)
        listener_.on_stages_done(positions_[member], end_[member]);
}

}  // namespace switchfold
