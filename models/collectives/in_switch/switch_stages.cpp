// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch/switch_stages.h"

#include "sim/core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace switchfold {

SwitchStages::SwitchStages(
    const CollectiveEnvironment& environment,
    const CollectiveSpec& spec,
    const std::vector<std::uint32_t>& members,
    std::unique_ptr<ReductionGroup> group,
    const HeadPieces& pieces,
    Work work,
    StageBuffers& buffers,
    SwitchStagesListener& listener) :
    fabric_(environment.fabric),
    scheduler_(environment.fabric.scheduler()),
    ports_(environment.ports),
    params_(environment.params),
    positions_(members),
    pieces_(pieces),
    work_(std::move(work)),
    buffers_(buffers),
    listener_(listener),
    group_(std::move(group)),
    client_(fabric_.add_client(*this)),
    n_(static_cast<std::uint32_t>(members.size())),
    element_bytes_(spec.element_bytes),
    functional_(environment.functional),
    running_(members.size(), 0),
    end_(members.size()) {
    ranks_ = group_->ranks;
    way_ = group_->way();
    const auto unit = static_cast<std::uint32_t>(params_.transfer_unit.count());
    channels_.resize(pieces.channels());
    for (std::uint32_t c = 0; c < channels_.size(); ++c) {
        Channel& channel = channels_[c];
        channel.loops = pieces.loops(c);
        channel.warps = work_.warps[c];
        // A warp waits for what it asked for before it asks on, and one instruction stores no more.
        channel.unit = std::min(channel.warps.round, unit);
        channel.slots.resize(std::min<std::uint64_t>(params_.steps, channel.loops));
        for (std::size_t i = 0; i < channel.slots.size(); ++i) {
            channel.slots[i].loop = i;
            channel.slots[i].delivered.assign(n_, 0);
            channel.slots[i].delivered_at.assign(n_, Time());
        }
    }
    blocks_ = std::vector<Block>(std::size_t{n_} * channels_.size());
}

SwitchStages::~SwitchStages() {
    fabric_.remove_client(client_);
    fabric_.remove_group(*group_);
}

void SwitchStages::abandon() {
    abandoned_ = true;
    fabric_.flush_group(*group_);
}

void SwitchStages::count_turns(TurnLog& turns) {
    turns_ = &turns;
    for (std::size_t i = 0; i < blocks_.size(); ++i)
        blocks_[i].turn = turns.add(
            static_cast<std::uint32_t>(i % channels_.size()),
            1U + (work_.spread ? 1U : 0U) + (work_.reduce ? 2U : 0U));
}

std::uint64_t SwitchStages::skippable(std::uint32_t channel) const {
    std::uint64_t begun = kLastTurns;
    for (std::size_t i = channel; i < blocks_.size(); i += channels_.size()) {
        const Block& b = blocks_[i];
        const std::uint64_t first = std::max({b.scattered, b.reduced, b.spread, b.gathered}) + 1;
        begun = std::max(begun, first + kLastTurns);
    }
    return channels_[channel].loops - std::min(begun, channels_[channel].loops);
}

std::uint32_t SwitchStages::member_of(std::uint32_t rank) const {
    const auto at = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    return static_cast<std::uint32_t>(at - ranks_.begin());
}

std::uint64_t SwitchStages::element(const PieceTag& tag) const {
    const std::uint64_t loop = channels_[tag.channel].slots[tag.slot].loop;
    const Part part = pieces_.piece(tag.channel, loop, tag.head);
    return (part.begin + (tag.unit & ~PieceTag::kStore)) / element_bytes_;
}

void SwitchStages::join(std::uint32_t member, Time start) {
    for (const Channel& channel : channels_)
        running_[member] += channel.loops > 0 ? 1 : 0;
    end_[member] = start;
    if (functional_)
        buffers_.results[positions_[member]].resize(buffers_.own[positions_[member]].size());
    if (running_[member] == 0)
        listener_.on_stages_done(positions_[member], start);
    else
        post(Stage::kJoin, member, 0, start);
}

void SwitchStages::begin(std::uint32_t member) {
    ++joined_;
    for (std::uint32_t c = 0; c < channels_.size(); ++c) {
        if (work_.reduce)
            try_scatter(member, c);
        // Nobody's memory is written before its kernel runs: the first barrier of the reducing
        // half sees to that, where there is one.
        for (std::uint32_t m = 0; m < n_ && !work_.reduce && joined_ == n_; ++m)
            try_spread(m, c);
    }
}

void SwitchStages::post(Stage stage, std::uint32_t member, std::uint32_t channel, Time due) {
    const std::uint64_t tag =
        static_cast<std::uint64_t>(stage) << 60U | std::uint64_t{channel} << 32U | member;
    scheduler_.at(std::max(due, scheduler_.now()), *this, tag);
    ++scheduled_;
}

void SwitchStages::on_event(std::uint64_t tag) {
    --scheduled_;
    if (abandoned_)
        return;
    const auto channel = static_cast<std::uint32_t>(tag >> 32U) & 0xFFFFU;
    const auto member = static_cast<std::uint32_t>(tag);
    switch (static_cast<Stage>(tag >> 60U)) {
    case Stage::kJoin:
        return begin(member);
    case Stage::kScatter:
        return end_scatter(member, channel);
    case Stage::kPosted:
        return on_posted(channel);
    case Stage::kReduce:
        return end_poll(member, channel);
    case Stage::kStore:
        block(member, channel).store_due = false;
        return spread_on(member, channel);
    case Stage::kSums:
        for (std::uint32_t m = 0; m < n_; ++m)
            try_gather(m, channel);
        return;
    case Stage::kGather:
        return end_gather(member, channel);
    }
}

Time SwitchStages::copy_piece(
    std::uint32_t member, std::uint32_t c, std::uint64_t loop, std::uint32_t head, bool gather) {
    const std::uint64_t bytes = pieces_.piece(c, loop, head).bytes;
    const StageWarps& warps = channels_[c].warps;
    const Block& b = block(member, c);
    const std::uint32_t busy =
        (b.scattering ? warps.scatter_workers : 0) + (b.gathering ? warps.gather_workers : 0);
    const std::uint32_t workers = gather ? warps.gather_workers : warps.scatter_workers;
    const Time served = port(member).access(bytes, bytes);
    return std::max(served, scheduler_.now() + copy_time(params_, workers, busy, bytes));
}

void SwitchStages::try_scatter(std::uint32_t member, std::uint32_t c) {
    Block& b = block(member, c);
    const Channel& channel = channels_[c];
    if (b.scattering || b.scattered == channel.loops ||
        b.scattered - channel.finished >= channel.slots.size())
        return;  // peers store into the slot: it is free when every member is through with it
    b.scattering = true;
    b.scatter_piece = 0;
    post(Stage::kScatter, member, c, copy_piece(member, c, b.scattered, 0, false));
}

void SwitchStages::end_scatter(std::uint32_t member, std::uint32_t c) {
    Block& b = block(member, c);
    Channel& channel = channels_[c];
    if (++b.scatter_piece < pieces_.working_heads(c, b.scattered)) {
        post(
            Stage::kScatter, member, c, copy_piece(member, c, b.scattered, b.scatter_piece, false));
        return;
    }
    Slot& slot = channel.slot(b.scattered++);
    b.scattering = false;
    note_turn(member, c, kScattered);
    // The warp that fences and posts lets the others go on.
    slot.posted_at = scheduler_.now() + params_.in_switch_sync;
    if (++slot.posted == n_)
        post(Stage::kPosted, 0, c, slot.posted_at);
    try_scatter(member, c);
}

void SwitchStages::on_posted(std::uint32_t c) {
    ++channels_[c].posted;
    for (std::uint32_t head = 0; head < n_; ++head) {
        Block& b = block(head, c);
        if (b.reducing && b.reduced == channels_[c].posted - 1) {
            const Poll poll = poll_until(b.poll_since, way_ * 4, scheduler_.now());
            b.sampled = poll.sampled;
            post(Stage::kReduce, head, c, poll.answered);
        } else if (work_.between != Between::kFused) {
            try_reduce(head, c);
        }
    }
}

void SwitchStages::try_reduce(std::uint32_t member, std::uint32_t c) {
    Block& b = block(member, c);
    while (b.reduced < channels_[c].posted && !b.reducing &&
           pieces_.piece(c, b.reduced, member).bytes == 0)
        end_reduce(member, c);
    if (!b.reducing && b.reduced < channels_[c].posted)
        poll(member, c);
}

void SwitchStages::reduce(std::uint32_t member, std::uint32_t c) {
    poll(member, c);
}

void SwitchStages::poll(std::uint32_t member, std::uint32_t c) {
    Block& b = block(member, c);
    SWITCHFOLD_CHECK(!b.reducing, "a head reduces two pieces at once");
    b.reducing = true;
    b.requested = b.answered = b.complete = b.taken = 0;
    if (b.reduced < b.seen) {
        request(member, c);
        return;
    }
    // The polls go round through the switch: up, down to the members, and the answers back.
    b.poll_since = scheduler_.now();
    if (b.reduced < channels_[c].posted) {
        const Poll poll = poll_until(b.poll_since, way_ * 4, b.poll_since);
        b.sampled = poll.sampled;
        post(Stage::kReduce, member, c, poll.answered);
    }
}

void SwitchStages::end_poll(std::uint32_t member, std::uint32_t c) {
    Block& b = block(member, c);
    Channel& channel = channels_[c];
    b.seen = b.reduced + 1;
    while (b.seen < channel.posted && channel.slot(b.seen).posted_at <= b.sampled)
        ++b.seen;
    request(member, c);
}

void SwitchStages::request(std::uint32_t member, std::uint32_t c) {
    Block& b = block(member, c);
    const Channel& channel = channels_[c];
    const Part part = pieces_.piece(c, b.reduced, member);
    const auto slot = static_cast<std::uint32_t>(b.reduced % channel.slots.size());
    while (b.requested < part.bytes &&
           (b.requested == b.taken ||
            b.requested - b.taken + channel.unit <= channel.warps.reduce_window)) {
        const auto bytes = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(channel.unit, part.bytes - b.requested));
        const PieceTag tag{c, slot, member, static_cast<std::uint32_t>(b.requested)};
        fabric_.send(
            *group_,
            member,
            {.kind = PacketKind::kReduceRequest,
             .payload = bytes,
             .tag = tag.pack(),
             .client = client_,
             .slot = (part.begin + b.requested) / channel.unit});
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
        element(PieceTag::unpack(packet.tag)),
        packet.payload / element_bytes_);
}

void SwitchStages::on_sum(const Packet& packet, std::uint32_t member, Time visible) {
    const PieceTag tag = PieceTag::unpack(packet.tag);
    const std::uint32_t c = tag.channel;
    Block& b = block(member, c);
    if (packet.values != 0) {
        std::vector<float>& to =
            (work_.spread ? buffers_.sums : buffers_.results)[positions_[member]];
        to.resize(buffers_.own[positions_[member]].size());
        fabric_.values().take(packet.values, to, element(tag));
    }
    const Part part = pieces_.piece(c, b.reduced, member);
    b.note_answer(tag.unit, channels_[c].unit, part.bytes);
    if (work_.between != Between::kFused) {
        const Time written = port(member).access(0, packet.payload);
        b.through = std::max({b.through, visible.count(), written.count()});
        take(member, c, packet.payload);
    }
    if (work_.between != Between::kNothing)
        listener_.on_progress(positions_[member], c);
}

std::uint64_t SwitchStages::reduced(std::uint32_t member, std::uint32_t c, std::uint64_t loop) {
    const Block& b = block(member, c);
    if (loop < b.reduced)
        return UINT64_MAX;
    return loop == b.reduced && b.reducing ? b.complete : 0;
}

void SwitchStages::take(std::uint32_t member, std::uint32_t c, std::uint64_t bytes) {
    Block& b = block(member, c);
    const std::uint64_t all = pieces_.piece(c, b.reduced, member).bytes;
    b.taken += bytes;
    SWITCHFOLD_CHECK(b.taken <= b.answered, "sums are handed on before they are there");
    if (b.taken == all)
        end_reduce(member, c);
    else if (b.requested < all)
        request(member, c);
}

void SwitchStages::end_reduce(std::uint32_t member, std::uint32_t c) {
    Block& b = block(member, c);
    const std::uint64_t loop = b.reduced++;
    b.reducing = false;
    note_turn(member, c, kReduced);
    if (!work_.spread)
        end_loop(member, c, loop);
    if (work_.between != Between::kFused)
        try_reduce(member, c);
}

void SwitchStages::end_loop(std::uint32_t member, std::uint32_t c, std::uint64_t loop) {
    Channel& channel = channels_[c];
    Slot& slot = channel.slot(loop);
    note_turn(member, c, kEnded);
    const bool all = ++slot.ended == n_;
    if (all) {
        slot.loop += channel.slots.size();
        slot.posted = slot.heads = slot.ended = 0;
        slot.posted_at = slot.heads_at = Time();
        std::fill(slot.delivered.begin(), slot.delivered.end(), 0);
        std::fill(slot.delivered_at.begin(), slot.delivered_at.end(), Time());
        ++channel.finished;
    }
    if (loop + 1 == channel.loops) {
        // What the reducing half stores last may be in memory a little later.
        const Time through(work_.spread ? 0 : block(member, c).through);
        end_[member] = std::max({end_[member], through, scheduler_.now()});
        if (--running_[member] == 0)
            listener_.on_stages_done(positions_[member], end_[member]);
    }
    if (!all)
        return;
    for (std::uint32_t other = 0; other < n_; ++other)
        if (work_.reduce)
            try_scatter(other, c);
        else
            try_spread(other, c);
}

std::vector<std::string> SwitchStages::blocked(std::size_t limit) const {
    std::vector<std::string> lines;
    for (std::uint32_t member = 0; member < n_; ++member)
        for (std::uint32_t c = 0; c < channels_.size() && lines.size() < limit; ++c) {
            const Block& b = blocks_[std::size_t{member} * channels_.size() + c];
            const std::uint64_t loops = channels_[c].loops;
            if ((work_.spread ? b.gathered : b.reduced) == loops)
                continue;
            lines.push_back(fmt::format(
                "rank {} channel {}: scattered {}, reduced {}, spread {}, gathered {} of {} loops",
                ranks_[member],
                c,
                b.scattered,
                b.reduced,
                b.spread,
                b.gathered,
                loops));
        }
    return lines;
}

}  // namespace switchfold
