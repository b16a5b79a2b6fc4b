// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/switch_stages.h"

#include "sim/core/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

SwitchStages::SwitchStages(
    const CollectiveEnvironment& environment,
    const CollectiveSpec& spec,
    const std::vector<std::uint32_t>& members,
    const HeadPieces& pieces,
    Halves halves,
    StageBuffers& buffers,
    SwitchStagesListener& listener) :
    fabric_(environment.fabric),
    scheduler_(environment.fabric.scheduler()),
    ports_(environment.ports),
    positions_(members),
    pieces_(pieces),
    halves_(halves),
    buffers_(buffers),
    listener_(listener),
    client_(0),
    n_(static_cast<std::uint32_t>(members.size())),
    unit_(static_cast<std::uint32_t>(environment.params.transfer_unit.count())),
    window_(static_cast<std::uint32_t>(environment.params.outstanding_loads.count())),
    depth_(environment.params.steps),
    element_bytes_(spec.element_bytes),
    rate_(environment.params.in_switch_block_rate),
    functional_(environment.functional),
    running_(members.size(), 0),
    end_(members.size(), 0) {
    for (const std::uint32_t position : members)
        ranks_.push_back(spec.ranks[position]);
    std::string refused;
    group_ = fabric_.create_group(ranks_, spec.element, refused);
    if (group_ == nullptr)
        throw SimulationError(fabric_.name(), scheduler_.now(), refused);
    client_ = fabric_.add_client(*this);
    // A barrier is a store to a multicast counter and a poll that the switch combines: each goes to
    // a switch and back.
    const Connection& way = fabric_.connect(ranks_.front(), ranks_.back());
    sync_ = (environment.params.in_switch_sync + way.latency).count();
    channels_.resize(pieces.channels());
    for (Channel& channel : channels_) {
        channel.scattered.assign(depth_, 0);
        channel.scattered_time.assign(depth_, 0);
        channel.ended.assign(depth_, 0);
    }
    blocks_.resize(std::size_t{n_} * channels_.size());
    for (Block& b : blocks_) {
        b.arrived.assign(depth_, 0);
        b.arrived_time.assign(depth_, 0);
    }
    // Large pieces travel in larger units, as long as a piece has several.
    const std::uint64_t chunk = pieces.loops(0) > 0 ? pieces.piece(0, 0, 0).bytes : 0;
    for (int i = 0; i < 2 && std::uint64_t{unit_} * 16 <= chunk; ++i)
        unit_ *= 2;
}

SwitchStages::~SwitchStages() {
    fabric_.remove_client(client_);
    fabric_.remove_group(*group_);
}

std::uint64_t SwitchStages::pace(std::uint64_t bytes) const {
    return serialization_time(Bytes(bytes), rate_).count();
}

std::uint32_t SwitchStages::member_of(std::uint32_t rank) const {
    const auto at = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    return static_cast<std::uint32_t>(at - ranks_.begin());
}

void SwitchStages::join(std::uint32_t member, Time start) {
    ++joined_;
    for (std::uint32_t c = 0; c < channels_.size(); ++c) {
        Block& b = block(member, c);
        b.scatter_free = b.reduce_free = b.spread_free = b.gather_free = start.count();
        running_[member] += pieces_.loops(c) > 0 ? 1 : 0;
    }
    if (running_[member] == 0) {
        listener_.on_stages_done(positions_[member], start);
        return;
    }
    if (functional_)
        buffers_.results[positions_[member]].resize(buffers_.own[positions_[member]].size());
    for (std::uint32_t c = 0; c < channels_.size(); ++c)
        if (halves_.reduce && pieces_.loops(c) > 0)
            try_scatter(member, c);
    if (joined_ == n_)
        start_all();
}

void SwitchStages::start_all() {
    // Nobody's memory is written before its kernel runs.
    if (halves_.reduce)
        return;  // the first barrier of the reducing half sees to that
    for (std::uint32_t member = 0; member < n_; ++member)
        for (std::uint32_t c = 0; c < channels_.size(); ++c) {
            Block& b = block(member, c);
            for (std::uint64_t loop = 0; loop < pieces_.loops(c); ++loop)
                b.final += pieces_.piece(c, loop, member).bytes > 0 ? 1 : 0;
            try_spread(member, c, b.spread_free + sync_);
        }
}

void SwitchStages::post(
    Stage stage, std::uint32_t member, std::uint32_t channel, std::uint64_t due) {
    const std::uint64_t tag =
        static_cast<std::uint64_t>(stage) << 60U | std::uint64_t{channel} << 32U | member;
    scheduler_.at(Time(std::max(due, scheduler_.now().count())), *this, tag);
}

void SwitchStages::on_event(std::uint64_t tag) {
    const auto channel = static_cast<std::uint32_t>(tag >> 32U) & 0xFFFFU;
    const auto member = static_cast<std::uint32_t>(tag);
    switch (static_cast<Stage>(tag >> 60U)) {
    case Stage::kScatter:
        return end_scatter(member, channel);
    case Stage::kReduce:
        return request(member, channel);
    case Stage::kSpread:
        return spread_unit(member, channel);
    case Stage::kGather:
        return end_gather(member, channel);
    }
}

void SwitchStages::try_scatter(std::uint32_t member, std::uint32_t c) {
    Block& b = block(member, c);
    if (b.scattering || b.scattered == pieces_.loops(c) ||
        b.scattered - channels_[c].finished >= depth_)
        return;  // peers store into the slot: it is free when every member is through with it
    b.scattering = true;
    const std::uint64_t bytes = pieces_.loop_bytes(c, b.scattered);
    const std::uint64_t served = port(member).access(bytes, bytes).count();
    b.scatter_free =
        std::max(std::max(scheduler_.now().count(), b.scatter_free) + pace(bytes), served);
    post(Stage::kScatter, member, c, b.scatter_free);
}

void SwitchStages::end_scatter(std::uint32_t member, std::uint32_t c) {
    Block& b = block(member, c);
    Channel& channel = channels_[c];
    const std::size_t slot = b.scattered % depth_;
    ++b.scattered;
    b.scattering = false;
    channel.scattered_time[slot] = scheduler_.now().count();
    if (++channel.scattered[slot] == n_)
        for (std::uint32_t head = 0; head < n_; ++head)
            try_reduce(head, c);
    try_scatter(member, c);
}

void SwitchStages::try_reduce(std::uint32_t member, std::uint32_t c) {
    Block& b = block(member, c);
    const Channel& channel = channels_[c];
    if (b.reducing || b.reduced == pieces_.loops(c))
        return;
    // Until every member is through with a slot its count is that of the loop that was there before.
    const std::size_t slot = b.reduced % depth_;
    if (b.reduced - channel.finished >= depth_ || channel.scattered[slot] < n_)
        return;
    SWITCHFOLD_CHECK(b.scattered > b.reduced, "a loop is reduced before it is scattered");
    b.reducing = true;
    b.requested = 0;
    b.answered = 0;
    post(Stage::kReduce, member, c, std::max(b.reduce_free, channel.scattered_time[slot] + sync_));
}

void SwitchStages::request(std::uint32_t member, std::uint32_t c) {
    Block& b = block(member, c);
    const Part part = pieces_.piece(c, b.reduced, member);
    if (part.bytes == 0) {
        end_reduce(member, c, scheduler_.now().count());
        return;
    }
    while (b.requested < part.bytes &&
           (b.requested == b.answered || b.requested - b.answered < window_)) {
        const auto bytes =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(unit_, part.bytes - b.requested));
        const PieceTag tag{
            c,
            static_cast<std::uint32_t>(b.reduced % depth_),
            member,
            static_cast<std::uint32_t>(b.requested / unit_)};
        fabric_.send(
            *group_,
            member,
            {.kind = PacketKind::kReduceRequest,
             .payload = bytes,
             .tag = tag.pack(),
             .client = client_,
             .slot = (part.begin + b.requested) / unit_});
        b.requested += bytes;
    }
}

void SwitchStages::on_packet(const Packet& packet, std::uint32_t rank, Time visible) {
    if (packet.kind == PacketKind::kReduceResult && packet.count == 0)
        throw SimulationError(
            fabric_.name(),
            scheduler_.now(),
            fmt::format("a reduction unit timed out on the piece of rank {}", rank));
    if (packet.kind == PacketKind::kReduceResult)
        on_sum(packet, member_of(rank), visible);
    else
        on_store(packet, member_of(rank), visible);
}

std::uint64_t SwitchStages::first_element(const PieceTag& tag, std::uint64_t loop) const {
    const Part part = pieces_.piece(tag.channel, loop, tag.head);
    return (part.begin + std::uint64_t{tag.unit} * unit_) / element_bytes_;
}

std::uint32_t SwitchStages::supply(const Packet& packet, std::uint32_t rank) {
    if (!functional_)
        return 0;
    const PieceTag tag = PieceTag::unpack(packet.tag);
    return fabric_.values().put_part(
        buffers_.own[positions_[member_of(rank)]],
        first_element(tag, block(tag.head, tag.channel).reduced),
        packet.payload / element_bytes_);
}

void SwitchStages::on_sum(const Packet& packet, std::uint32_t member, Time visible) {
    const PieceTag tag = PieceTag::unpack(packet.tag);
    Block& b = block(member, tag.channel);
    // The sum is in registers: it goes on to the next stage, or to memory if there is none.
    b.reduce_free = std::max(b.reduce_free + pace(packet.payload), visible.count());
    if (!halves_.spread)
        b.reduce_free = std::max(b.reduce_free, port(member).access(0, packet.payload).count());
    if (packet.values != 0) {
        std::vector<float>& to =
            (halves_.spread ? buffers_.sums : buffers_.results)[positions_[member]];
        to.resize(buffers_.own[positions_[member]].size());
        fabric_.values().take(packet.values, to, first_element(tag, b.reduced));
    }
    b.answered += packet.payload;
    const Part part = pieces_.piece(tag.channel, b.reduced, member);
    if (b.answered == part.bytes)
        end_reduce(member, tag.channel, b.reduce_free);
    else if (b.requested < part.bytes)
        request(member, tag.channel);
}

void SwitchStages::end_reduce(std::uint32_t member, std::uint32_t c, std::uint64_t when) {
    Block& b = block(member, c);
    const std::uint64_t loop = b.reduced++;
    b.reducing = false;
    listener_.on_reduced(positions_[member], c, loop, when);
    if (!halves_.spread)
        end_loop(member, c, loop);
    try_reduce(member, c);
}

void SwitchStages::spread(std::uint32_t member, std::uint32_t c, std::uint64_t when) {
    ++block(member, c).final;
    try_spread(member, c, when);
}

void SwitchStages::try_spread(std::uint32_t member, std::uint32_t c, std::uint64_t when) {
    Block& b = block(member, c);
    while (b.spread < pieces_.loops(c) && pieces_.piece(c, b.spread, member).bytes == 0)
        ++b.spread;
    if (b.spreading || b.final == 0 || b.spread - channels_[c].finished >= depth_)
        return;
    b.spreading = true;
    b.stored = 0;
    post(Stage::kSpread, member, c, std::max(b.spread_free, when));
}

void SwitchStages::spread_unit(std::uint32_t member, std::uint32_t c) {
    Block& b = block(member, c);
    const Part part = pieces_.piece(c, b.spread, member);
    const auto bytes =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(unit_, part.bytes - b.stored));
    const PieceTag tag{
        c,
        static_cast<std::uint32_t>(b.spread % depth_),
        member,
        static_cast<std::uint32_t>(b.stored / unit_)};
    std::uint32_t values = 0;
    if (functional_)
        values = fabric_.values().put_part(
            (halves_.reduce ? buffers_.sums : buffers_.own)[positions_[member]],
            first_element(tag, b.spread),
            bytes / element_bytes_);
    const std::uint64_t now = scheduler_.now().count();
    b.spread_free = now + pace(bytes);
    if (!halves_.reduce)
        b.spread_free = std::max(b.spread_free, port(member).access(bytes, 0).count());
    const OptionalTime departure = fabric_.send(
        *group_,
        member,
        {.kind = PacketKind::kMulticastWrite,
         .payload = bytes,
         .tag = tag.pack(),
         .client = client_,
         .slot = (part.begin + b.stored) / unit_,
         .values = values});
    // Stores leave the block no faster than its link takes them.
    if (departure && departure->count() > b.spread_free + pace(window_))
        b.spread_free = departure->count() - pace(window_);
    b.stored += bytes;
    if (b.stored < part.bytes) {
        post(Stage::kSpread, member, c, b.spread_free);
        return;
    }
    ++b.spread;
    --b.final;
    b.spreading = false;
    try_spread(member, c, b.spread_free);
}

void SwitchStages::on_store(const Packet& packet, std::uint32_t member, Time visible) {
    const PieceTag tag = PieceTag::unpack(packet.tag);
    Block& b = block(member, tag.channel);
    if (packet.values != 0) {
        // The loop that this slot of the pipeline holds is the one that this member will gather
        // next in it.
        const std::uint64_t loop = b.gathered + (tag.slot + depth_ - b.gathered % depth_) % depth_;
        fabric_.values().take(
            packet.values, buffers_.results[positions_[member]], first_element(tag, loop));
    }
    b.arrived[tag.slot] += packet.payload;
    b.arrived_time[tag.slot] = std::max(b.arrived_time[tag.slot], visible.count());
    try_gather(member, tag.channel);
}

void SwitchStages::try_gather(std::uint32_t member, std::uint32_t c) {
    Block& b = block(member, c);
    if (b.gathering || b.gathered == pieces_.loops(c))
        return;
    const std::size_t slot = b.gathered % depth_;
    const std::uint64_t bytes = pieces_.loop_bytes(c, b.gathered);
    SWITCHFOLD_CHECK(b.arrived[slot] <= bytes, "more sums than a loop holds");
    if (b.arrived[slot] < bytes)
        return;
    b.gathering = true;
    const std::uint64_t served = port(member).access(bytes, bytes).count();
    const std::uint64_t start = std::max(b.gather_free, b.arrived_time[slot] + sync_);
    b.gather_free = std::max(start + pace(bytes), served);
    post(Stage::kGather, member, c, b.gather_free);
}

void SwitchStages::end_gather(std::uint32_t member, std::uint32_t c) {
    Block& b = block(member, c);
    const std::size_t slot = b.gathered % depth_;
    b.arrived[slot] = 0;
    b.arrived_time[slot] = 0;
    b.gathering = false;
    end_loop(member, c, b.gathered++);
    try_gather(member, c);
}

void SwitchStages::end_loop(std::uint32_t member, std::uint32_t c, std::uint64_t loop) {
    Channel& channel = channels_[c];
    const std::size_t slot = loop % depth_;
    const bool all = ++channel.ended[slot] == n_;
    if (all) {
        channel.ended[slot] = 0;
        channel.scattered[slot] = 0;
        ++channel.finished;
    }
    if (loop + 1 == pieces_.loops(c)) {
        // What the reducing half stores last may be in memory a little later.
        const std::uint64_t through = halves_.spread ? 0 : block(member, c).reduce_free;
        end_[member] = std::max({end_[member], through, scheduler_.now().count()});
        if (--running_[member] == 0)
            listener_.on_stages_done(positions_[member], Time(end_[member]));
    }
    if (!all)
        return;
    for (std::uint32_t other = 0; other < n_; ++other)
        if (halves_.reduce)
            try_scatter(other, c);
        else
            try_spread(other, c, scheduler_.now().count() + sync_);
}

std::vector<std::string> SwitchStages::blocked(std::size_t limit) const {
    std::vector<std::string> lines;
    for (std::uint32_t member = 0; member < n_; ++member)
        for (std::uint32_t c = 0; c < channels_.size() && lines.size() < limit; ++c) {
            const Block& b = blocks_[std::size_t{member} * channels_.size() + c];
            const std::uint64_t loops = pieces_.loops(c);
            if ((halves_.spread ? b.gathered : b.reduced) == loops)
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
