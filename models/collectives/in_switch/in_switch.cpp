// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch/in_switch_base.h"
#include "models/collectives/in_switch/in_switch_steps.h"
#include "sim/core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

/// NVLS all-reduce (NCCL device/all_reduce.h): rank h is the head of piece h of every loop. Per
/// channel, in a pipeline `steps` loops deep, three groups of warps of each block work side by
/// side:
/// - scatter: copy the own buffer into the multicast buffer, a piece after the other; fence; post
///   the own counter.
/// - reduce: poll, through the switch, the least of all members' counters; load the own piece, the
///   sum of all members', in rounds of as much as the warps hold; store each sum to all members;
///   fence, that is wait until every member has acknowledged; post a counter at all members.
/// - gather: when all heads have posted, copy the result out, a piece after the other; that frees
///   the slot of the pipeline.
/// With registered buffers the copies fall away. Where the switch stores to all on a command, the
/// sums do not pass through the head: it asks on when its own copy has come.
class PullAllReduce final : public InSwitchCollective, private EventHandler {
public:
    PullAllReduce(
        const CollectiveEnvironment& environment,
        const CollectiveSpec& spec,
        MemberListener& listener,
        std::unique_ptr<ReductionGroup> group);

    void join(std::uint32_t position, Time start) override;
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override;
    [[nodiscard]] Bytes footprint() const override { return footprint_; }
    [[nodiscard]] TurnLog* turns() override { return turns_ ? &*turns_ : nullptr; }
    [[nodiscard]] std::uint64_t skippable(std::uint32_t lane, std::uint64_t unit) const override;
    void skip(std::uint32_t lane, std::uint64_t loops) override;

private:
    enum class Stage : std::uint8_t { kScatter, kPosted, kReduce, kSums, kGather };
    /// One rank's thread block of one channel.
    struct Block {
        bool joined = false;
        bool scattering = false;
        bool reducing = false;  ///< or polling
        bool gathering = false;
        std::uint64_t scattered = 0;  ///< loops
        std::uint64_t seen = 0;       ///< loops that the last poll saw posted by everybody
        std::uint64_t reduced = 0;    ///< loops whose piece this head has stored
        std::uint64_t gathered = 0;
        std::uint32_t scatter_piece = 0;  ///< head whose piece is copied
        std::uint32_t gather_piece = 0;
        std::uint32_t turn = 0;  ///< its first number in the log of turns
        Time poll_since;
        Time sampled;
        std::uint32_t requested = 0;  ///< bytes of the current piece
        std::uint32_t answered = 0;
        std::uint32_t requests = 0;  ///< packets
        std::uint32_t stores = 0;
    };
    /// One loop of one channel on its way.
    struct Slot {
        std::uint64_t loop = 0;
        std::uint32_t posted = 0;  ///< ranks that have scattered and said so
        Time posted_at;            ///< when the last of them had
        std::uint32_t heads = 0;   ///< whose sums are at every member, acknowledged and posted
        Time heads_at;
        std::uint32_t gathered = 0;
        std::vector<std::uint64_t> missing;  ///< by head: bytes of its sums, over all members
        std::vector<Time> delivered_at;
    };
    struct Channel {
        std::uint32_t index = 0;
        std::uint64_t loops = 0;
        std::uint64_t posted = 0;    ///< loops that every rank has posted
        std::uint64_t finished = 0;  ///< loops that every rank has gathered
        std::vector<Slot> slots;
    };
    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override;
    std::uint32_t supply(const Packet& packet, std::uint32_t rank) override;
    void on_departure(std::uint64_t /*tag*/, Time /*departure*/) override {}
    void on_event(std::uint64_t tag) override;

    Block& block(std::uint32_t position, std::uint32_t channel) {
        return blocks_[std::size_t{position} * channels_.size() + channel];
    }
    [[nodiscard]] Part piece(const Channel& channel, std::uint64_t loop, std::uint32_t head) const {
        return shape_.pieces.piece(channel.index, loop, head);
    }
    /// When the warps have copied this head's piece into or out of the multicast buffer; `others`
    /// of their block copy meanwhile.
    [[nodiscard]] Time copy_piece(
        std::uint32_t position,
        const Channel& channel,
        std::uint64_t loop,
        std::uint32_t head,
        std::uint32_t warps,
        std::uint32_t others);
    void post(Stage stage, std::uint32_t position, std::uint32_t channel, Time due);
    /// What of a block goes round in loops: parts in the log of turns.
    enum Turning : std::uint32_t { kGathered, kScattered, kReduced, kTurnings };
    void note_turn(const Block& b, Turning part) {
        if (turns_)
            turns_->note(b.turn + part, scheduler_.now().count());
    }
    /// Pieces that a group of warps copies in a loop.
    [[nodiscard]] std::uint32_t pieces(const Channel& channel, std::uint64_t loop) const {
        return registered_ ? 1 : shape_.pieces.working_heads(channel.index, loop);
    }
    void try_scatter(std::uint32_t position, std::uint32_t channel);
    void scatter_piece(std::uint32_t position, std::uint32_t channel);
    void gather_piece(std::uint32_t position, std::uint32_t channel);
    void end_scatter(std::uint32_t position, std::uint32_t channel);
    void on_posted(std::uint32_t channel);
    void try_reduce(std::uint32_t position, std::uint32_t channel);
    void end_poll(std::uint32_t position, std::uint32_t channel);
    void request(std::uint32_t position, std::uint32_t channel);
    /// Where a block's packets are of several rounds they take turns on the links: each block
    /// starts at another, as their addresses would.
    static std::uint64_t stripe(std::uint32_t head, std::uint32_t channel, std::uint32_t packet) {
        return std::uint64_t{head} * 7 + std::uint64_t{channel} * 5 + packet;
    }
    void on_sum(const Packet& packet, std::uint32_t position);
    /// A sum that the head asked for is where it belongs, or on its way there.
    void answered(const Packet& packet, std::uint32_t head);
    void on_store(const Packet& packet, std::uint32_t position, Time visible);
    void end_head(Channel& channel, Slot& slot, std::uint32_t head, std::uint32_t c);
    void try_gather(std::uint32_t position, std::uint32_t channel);
    void end_gather(std::uint32_t position, std::uint32_t channel);

    InSwitchShape shape_;
    std::uint32_t unit_;
    RoundsInPacket rounds_;
    bool commands_;  ///< the switch stores the sums to all
    std::uint32_t depth_;
    Time way_;         ///< a member to the root
    Time poll_round_;  ///< a poll, there and back
    std::vector<Channel> channels_;
    std::vector<Block> blocks_;
    std::optional<TurnLog> turns_;
    Bytes footprint_;
};

constexpr std::uint64_t kMostLoops = 32;  // in a window of turns

PullAllReduce::PullAllReduce(
    const CollectiveEnvironment& environment,
    const CollectiveSpec& spec,
    MemberListener& listener,
    std::unique_ptr<ReductionGroup> group) :
    InSwitchCollective(environment, spec, listener, std::move(group)),
    shape_(in_switch_shape(
        environment.params, n_, spec.choice.channels, spec.bytes.count(), registered_)),
    // A warp waits for what it asked for before it asks on: a larger packet would fold several
    // warps' rounds into one and travel longer than any of them.
    unit_(std::min(
        shape_.reduce_round, static_cast<std::uint32_t>(environment.params.transfer_unit.count()))),
    commands_(spec.choice.mode == InSwitchMode::kCommand),
    depth_(environment.params.steps),
    way_(group_->way()),
    // Up, down to the members, and the answers the same way back.
    poll_round_(way_ * 4) {
    const std::uint32_t channels = spec.choice.channels;
    for (std::uint32_t c = 0; c < channels; ++c) {
        Channel channel;
        channel.index = c;
        channel.loops = shape_.pieces.loops(c);
        channel.slots.resize(std::min<std::uint64_t>(depth_, channel.loops));
        for (Slot& slot : channel.slots) {
            slot.missing.assign(n_, 0);
            slot.delivered_at.assign(n_, Time());
        }
        channels_.push_back(std::move(channel));
    }
    blocks_.resize(std::size_t{n_} * channels);
    if (environment.may_jump) {
        // What the unit behind one lane of one port holds.
        const std::uint64_t room = fabric_.push_room(*group_) / n_ / group_->stripes.size();
        if (!registered_)
            rounds_ = rounds_in_packet(n_, spec.bytes.count() / unit_, room / unit_);
        turns_.emplace(1, 1, kMostLoops);
        turns_->rest_early();
        for (std::size_t i = 0; i < blocks_.size(); ++i)
            blocks_[i].turn = turns_->add(static_cast<std::uint32_t>(i % channels), kTurnings);
    }
    const std::uint64_t bytes = spec.bytes.count();
    const std::uint64_t buffered = 2 * depth_ * shape_.chunk * channels * n_;
    footprint_ = Bytes(registered_ ? 0 : std::min(2 * bytes, buffered));
}

Time PullAllReduce::copy_piece(
    std::uint32_t position,
    const Channel& channel,
    std::uint64_t loop,
    std::uint32_t head,
    std::uint32_t warps,
    std::uint32_t others) {
    const std::uint64_t bytes = registered_ ? 0 : piece(channel, loop, head).bytes;
    if (bytes == 0)
        return scheduler_.now();
    const Time served = port(position).access(bytes, bytes);
    return std::max(served, scheduler_.now() + copy_time(params_, warps, warps + others, bytes));
}

std::uint64_t PullAllReduce::skippable(std::uint32_t lane, std::uint64_t /*unit*/) const {
    std::uint64_t begun = kLastTurns;
    for (std::size_t i = lane; i < blocks_.size(); i += channels_.size()) {
        const Block& b = blocks_[i];
        const std::uint64_t first = std::max({b.scattered, b.reduced, b.gathered}) + 1;
        begun = std::max(begun, first + kLastTurns);
    }
    return channels_[lane].loops - std::min(begun, channels_[lane].loops);
}

void PullAllReduce::skip(std::uint32_t lane, std::uint64_t loops) {
    shape_.pieces.skip(lane, loops);
    channels_[lane].loops -= loops;
}

void PullAllReduce::join(std::uint32_t position, Time start) {
    const auto busy = std::count_if(channels_.begin(), channels_.end(), [](const Channel& channel) {
        return channel.loops > 0;
    });
    begin(position, start, static_cast<std::uint32_t>(busy));
    for (std::uint32_t c = 0; c < channels_.size(); ++c) {
        if (channels_[c].loops == 0)
            continue;
        post(Stage::kScatter, position, c, start);
    }
}

void PullAllReduce::post(Stage stage, std::uint32_t position, std::uint32_t channel, Time due) {
    const std::uint64_t tag =
        static_cast<std::uint64_t>(stage) << 60U | std::uint64_t{channel} << 32U | position;
    scheduler_.at(std::max(due, scheduler_.now()), *this, tag);
}

void PullAllReduce::on_event(std::uint64_t tag) {
    if (abandoned_)
        return;
    const auto channel = static_cast<std::uint32_t>(tag >> 32U) & 0xFFFFU;
    const auto position = static_cast<std::uint32_t>(tag);
    switch (static_cast<Stage>(tag >> 60U)) {
    case Stage::kScatter: {
        Block& b = block(position, channel);
        if (b.joined) {
            end_scatter(position, channel);
            break;
        }
        b.joined = true;
        try_scatter(position, channel);
        try_reduce(position, channel);
        break;
    }
    case Stage::kPosted:
        on_posted(channel);
        break;
    case Stage::kReduce:
        end_poll(position, channel);
        break;
    case Stage::kSums:
        for (std::uint32_t member = 0; member < n_; ++member)
            try_gather(member, channel);
        break;
    case Stage::kGather:
        end_gather(position, channel);
        break;
    }
}

void PullAllReduce::try_scatter(std::uint32_t position, std::uint32_t c) {
    Block& b = block(position, c);
    const Channel& channel = channels_[c];
    if (!b.joined || b.scattering || b.scattered == channel.loops ||
        b.scattered - channel.finished >= channel.slots.size())
        return;  // peers store into the slot: it is free when every rank has gathered it
    b.scattering = true;
    b.scatter_piece = 0;
    scatter_piece(position, c);
}

void PullAllReduce::scatter_piece(std::uint32_t position, std::uint32_t c) {
    const Block& b = block(position, c);
    const Time end = copy_piece(
        position,
        channels_[c],
        b.scattered,
        b.scatter_piece,
        shape_.scatter_workers,
        b.gathering ? shape_.gather_workers : 0);
    post(Stage::kScatter, position, c, end);
}

void PullAllReduce::gather_piece(std::uint32_t position, std::uint32_t c) {
    const Block& b = block(position, c);
    const Time end = copy_piece(
        position,
        channels_[c],
        b.gathered,
        b.gather_piece,
        shape_.gather_workers,
        b.scattering ? shape_.scatter_workers : 0);
    post(Stage::kGather, position, c, end);
}

void PullAllReduce::end_scatter(std::uint32_t position, std::uint32_t c) {
    Block& b = block(position, c);
    Channel& channel = channels_[c];
    if (++b.scatter_piece < pieces(channel, b.scattered)) {
        scatter_piece(position, c);
        return;
    }
    Slot& slot = channel.slots[b.scattered % channel.slots.size()];
    slot.loop = b.scattered++;
    b.scattering = false;
    note_turn(b, kScattered);
    // The warp that fences and posts lets the others go on.
    slot.posted_at = scheduler_.now() + params_.in_switch_sync;
    if (++slot.posted == n_)
        post(Stage::kPosted, 0, c, slot.posted_at);
    try_scatter(position, c);
}

void PullAllReduce::on_posted(std::uint32_t c) {
    ++channels_[c].posted;
    for (std::uint32_t head = 0; head < n_; ++head) {
        Block& b = block(head, c);
        if (!b.joined || !b.reducing || b.reduced != channels_[c].posted - 1)
            continue;
        const Poll poll = poll_until(b.poll_since, poll_round_, scheduler_.now());
        b.sampled = poll.sampled;
        post(Stage::kReduce, head, c, poll.answered);
    }
}

void PullAllReduce::try_reduce(std::uint32_t head, std::uint32_t c) {
    Block& b = block(head, c);
    const Channel& channel = channels_[c];
    if (!b.joined || b.reducing || b.reduced == channel.loops)
        return;
    b.reducing = true;
    b.requested = 0;
    b.answered = 0;
    if (b.reduced < b.seen) {
        request(head, c);
        return;
    }
    b.poll_since = scheduler_.now();
    if (b.reduced < channel.posted) {
        const Poll poll = poll_until(b.poll_since, poll_round_, b.poll_since);
        b.sampled = poll.sampled;
        post(Stage::kReduce, head, c, poll.answered);
    }
}

void PullAllReduce::end_poll(std::uint32_t head, std::uint32_t c) {
    Block& b = block(head, c);
    const Channel& channel = channels_[c];
    b.seen = b.reduced + 1;
    while (b.seen < channel.posted &&
           channel.slots[b.seen % channel.slots.size()].posted_at <= b.sampled)
        ++b.seen;
    request(head, c);
}

void PullAllReduce::request(std::uint32_t head, std::uint32_t c) {
    Block& b = block(head, c);
    Channel& channel = channels_[c];
    const Part part = piece(channel, b.reduced, head);
    if (part.bytes == 0) {
        ++b.reduced;
        b.reducing = false;
        try_reduce(head, c);
        return;
    }
    const auto slot = static_cast<std::uint32_t>(b.reduced % channel.slots.size());
    if (b.requested == 0)
        channel.slots[slot].missing[head] = part.bytes * n_;
    while (b.requested < part.bytes) {
        const std::uint64_t done = b.reduced * shape_.chunk + b.requested;
        const std::uint64_t all = channel.loops * shape_.chunk;
        const std::uint64_t most = unit_ * rounds_.of(done / unit_, (all - done) / unit_);
        const std::uint64_t window = std::max<std::uint64_t>(shape_.reduce_window, most);
        if (b.requested != b.answered && b.requested - b.answered + most > window)
            break;
        const auto bytes =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(most, part.bytes - b.requested));
        fabric_.send(
            *group_,
            head,
            {.kind = commands_ ? PacketKind::kReduceCommand : PacketKind::kReduceRequest,
             .payload = bytes,
             .tag = PieceTag{c, slot, head, b.requested / unit_}.pack(),
             .client = client_,
             .slot = rounds_.most > 1 ? stripe(head, c, b.requests++)
                                      : (part.begin + b.requested) / unit_});
        b.requested += bytes;
    }
}

void PullAllReduce::on_packet(const Packet& packet, std::uint32_t rank, Time visible) {
    if (abandoned_) {
        fabric_.values().drop(packet.values);
        return;
    }
    const std::uint32_t position = position_of(rank);
    if (packet.kind == PacketKind::kReduceResult) {
        if (packet.count == 0)
            listener_.on_failure(kUnitTimedOut);
        else
            on_sum(packet, position);
        return;
    }
    const bool own = PieceTag::unpack(packet.tag).head == position;
    on_store(packet, position, visible);
    if (commands_ && own)
        answered(packet, position);
}

void PullAllReduce::on_sum(const Packet& packet, std::uint32_t head) {
    const PieceTag tag = PieceTag::unpack(packet.tag);
    Block& b = block(head, tag.channel);
    // The sum is in registers; the warps that asked for it store it to everybody and ask on.
    const Part part = piece(channels_[tag.channel], b.reduced, head);
    fabric_.send(
        *group_,
        head,
        {.kind = PacketKind::kMulticastWrite,
         .payload = packet.payload,
         .tag = packet.tag,
         .client = client_,
         .slot = rounds_.most > 1 ? stripe(head, tag.channel, b.stores++)
                                  : (part.begin + std::uint64_t{tag.unit} * unit_) / unit_,
         .values = packet.values});
    answered(packet, head);
}

void PullAllReduce::answered(const Packet& packet, std::uint32_t head) {
    const PieceTag tag = PieceTag::unpack(packet.tag);
    Block& b = block(head, tag.channel);
    const Part part = piece(channels_[tag.channel], b.reduced, head);
    b.answered += packet.payload;
    if (b.answered < part.bytes) {
        if (b.requested < part.bytes)
            request(head, tag.channel);
        return;
    }
    ++b.reduced;
    b.reducing = false;
    note_turn(b, kReduced);
    try_reduce(head, tag.channel);
}

std::uint32_t PullAllReduce::supply(const Packet& packet, std::uint32_t rank) {
    if (!functional_)
        return 0;
    const PieceTag tag = PieceTag::unpack(packet.tag);
    const Channel& channel = channels_[tag.channel];
    const Part part = piece(channel, channel.slots[tag.slot].loop, tag.head);
    return own_values(
        position_of(rank), part.begin + std::uint64_t{tag.unit} * unit_, packet.payload);
}

void PullAllReduce::on_store(const Packet& packet, std::uint32_t position, Time visible) {
    const PieceTag tag = PieceTag::unpack(packet.tag);
    Channel& channel = channels_[tag.channel];
    Slot& slot = channel.slots[tag.slot];
    if (functional_)
        keep_values(
            position,
            piece(channel, slot.loop, tag.head).begin + std::uint64_t{tag.unit} * unit_,
            packet.values);
    SWITCHFOLD_CHECK(slot.missing[tag.head] >= packet.payload, "more sums than a piece holds");
    slot.missing[tag.head] -= packet.payload;
    slot.delivered_at[tag.head] = std::max(slot.delivered_at[tag.head], visible);
    if (slot.missing[tag.head] == 0)
        end_head(channel, slot, tag.head, tag.channel);
}

void PullAllReduce::end_head(Channel& channel, Slot& slot, std::uint32_t head, std::uint32_t c) {
    // The last acknowledgement comes back to the head, whose post then goes out to all.
    const Time posted = slot.delivered_at[head] + way_ * 4 + params_.in_switch_sync;
    slot.heads_at = std::max(slot.heads_at, posted);
    if (++slot.heads == shape_.pieces.working_heads(channel.index, slot.loop))
        post(Stage::kSums, 0, c, slot.heads_at);
}

void PullAllReduce::try_gather(std::uint32_t position, std::uint32_t c) {
    Block& b = block(position, c);
    const Channel& channel = channels_[c];
    if (b.gathering || b.gathered == channel.loops)
        return;
    const Slot& slot = channel.slots[b.gathered % channel.slots.size()];
    if (slot.loop != b.gathered || slot.posted < n_ ||
        slot.heads < shape_.pieces.working_heads(channel.index, slot.loop) ||
        slot.heads_at > scheduler_.now())
        return;
    b.gathering = true;
    b.gather_piece = 0;
    gather_piece(position, c);
}

void PullAllReduce::end_gather(std::uint32_t position, std::uint32_t c) {
    Block& b = block(position, c);
    Channel& channel = channels_[c];
    if (++b.gather_piece < pieces(channel, b.gathered)) {
        gather_piece(position, c);
        return;
    }
    Slot& slot = channel.slots[b.gathered % channel.slots.size()];
    b.gathering = false;
    ++b.gathered;
    note_turn(b, kGathered);
    const bool all = ++slot.gathered == n_;
    if (all) {
        slot.posted = slot.heads = slot.gathered = 0;
        slot.posted_at = slot.heads_at = Time();
        std::fill(slot.delivered_at.begin(), slot.delivered_at.end(), Time());
        ++channel.finished;
    }
    if (b.gathered == channel.loops)
        end_channel(position);
    if (all)
        for (std::uint32_t r = 0; r < n_; ++r)
            try_scatter(r, c);
    if (b.gathered < channel.loops)
        try_gather(position, c);
}

std::vector<std::string> PullAllReduce::blocked(std::size_t limit) const {
    std::vector<std::string> lines;
    for (std::uint32_t position = 0; position < n_; ++position)
        for (std::uint32_t c = 0; c < channels_.size() && lines.size() < limit; ++c) {
            const Block& b = blocks_[std::size_t{position} * channels_.size() + c];
            if (b.gathered == channels_[c].loops)
                continue;
            lines.push_back(fmt::format(
                "rank {} channel {}: scattered {}, reduced {}, gathered {} of {} loops",
                spec_.ranks[position],
                c,
                b.scattered,
                b.reduced,
                b.gathered,
                channels_[c].loops));
        }
    return lines;
}

}  // namespace

std::unique_ptr<RunningCollective> make_pull_all_reduce(
    const CollectiveEnvironment& environment,
    const CollectiveSpec& spec,
    MemberListener& listener,
    std::string& refused) {
    return make_group_collective<PullAllReduce>(environment, spec, listener, refused);
}

}  // namespace switchfold
