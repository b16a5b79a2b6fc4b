// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch/nvls_loops.h"

#include "core/error.h"
#include "models/collectives/in_switch/in_switch_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

// Loops that show the motion of two members at least. Each one's posts shift against the other's
// polls by a little every loop until a poll misses one: a few loops do not tell the mean. More
// members wait for the slowest of many polls, which varies less.
constexpr double kFewestOfTwo = 48;

}  // namespace

NvlsLoops::NvlsLoops(
    Machine machine, const NvlsChunks& pieces, const std::vector<NvlsCopyWarps>& warps, bool copies,
    NvlsLoopsListener& listener) :
    scheduler_(machine.scheduler),
    params_(machine.params),
    ports_(std::move(machine.ports)),
    to_root_(machine.to_root),
    each_(machine.each),
    format_(machine.format),
    pieces_(pieces),
    copies_(copies),
    listener_(listener),
    channels_(pieces.channels()),
    blocks_(ports_.size() * pieces.channels()) {
    for (std::uint32_t c = 0; c < channels_.size(); ++c) {
        NvlsChannel& channel = channels_[c];
        channel.loops = pieces.loops(c);
        channel.warps = warps[c];
        channel.slots.resize(std::min<std::uint64_t>(params_.steps, channel.loops));
        for (std::size_t i = 0; i < channel.slots.size(); ++i) {
            channel.slots[i].loop = i;
            channel.slots[i].missing.assign(ports_.size(), 0);
            channel.slots[i].delivered_at.assign(ports_.size(), Time());
        }
    }
}

std::uint32_t NvlsLoops::busy_channels() const {
    return static_cast<std::uint32_t>(
        std::count_if(channels_.begin(), channels_.end(), [](const NvlsChannel& channel) {
            return channel.loops > 0;
        }));
}

void NvlsLoops::count_turns(PeriodDetector& turns, bool stores, bool reduces) {
    turns_ = &turns;
    counts_stores_ = stores;
    if (reduces && ports_.size() == 2)
        turns.set_fewest(kFewestOfTwo);
    for (std::size_t i = 0; i < blocks_.size(); ++i)
        blocks_[i].turn = turns.add(
            static_cast<std::uint32_t>(i % channels_.size()),
            1U + (stores ? 1U : 0U) + (reduces ? 2U : 0U));
}

void NvlsLoops::note_turn(const NvlsBlock& block, Turning part) {
    if (turns_ == nullptr)
        return;
    const std::uint32_t left_out = part > Turning::kStored && !counts_stores_ ? 1 : 0;
    turns_->note(
        block.turn + static_cast<std::uint32_t>(part) - left_out, scheduler_.now().count());
}

std::uint64_t NvlsLoops::skippable(std::uint32_t channel) const {
    std::uint64_t begun = kLastTurns;
    for (std::size_t i = channel; i < blocks_.size(); i += channels_.size()) {
        const NvlsBlock& b = blocks_[i];
        const std::uint64_t first = std::max({b.scattered, b.reduced, b.stored, b.gathered}) + 1;
        begun = std::max(begun, first + kLastTurns);
    }
    return channels_[channel].loops - std::min(begun, channels_[channel].loops);
}

void NvlsLoops::join(std::uint32_t member, std::uint32_t channel, Time start) {
    post(Stage::kJoin, member, channel, start);
}

void NvlsLoops::post(Stage stage, std::uint32_t member, std::uint32_t channel, Time due) {
    const std::uint64_t tag =
        static_cast<std::uint64_t>(stage) << 60U | std::uint64_t{channel} << 32U | member;
    scheduler_.at(std::max(due, scheduler_.now()), *this, tag);
    ++scheduled_;
}

void NvlsLoops::on_event(std::uint64_t tag) {
    --scheduled_;
    if (abandoned_)
        return;
    const auto channel = static_cast<std::uint32_t>(tag >> 32U) & 0xFFFFU;
    const auto member = static_cast<std::uint32_t>(tag);
    switch (static_cast<Stage>(tag >> 60U)) {
    case Stage::kJoin:
        return listener_.on_joined(member, channel);
    case Stage::kScatter:
        return end_scatter(member, channel);
    case Stage::kPosted:
        return on_posted(channel);
    case Stage::kReduce:
        return end_poll(member, channel);
    case Stage::kSums:
        for (std::uint32_t m = 0; m < ports_.size(); ++m)
            gather(m, channel);
        return;
    case Stage::kGather:
        return end_gather(member, channel);
    }
}

void NvlsLoops::copy_piece(std::uint32_t member, std::uint32_t c, bool gather) {
    const NvlsBlock& b = block(member, c);
    const NvlsCopyWarps& warps = channels_[c].warps;
    const std::uint64_t loop = gather ? b.gathered : b.scattered;
    const std::uint32_t piece = gather ? b.gather_piece : b.scatter_piece;
    const std::uint64_t bytes = copies_ ? pieces_.piece(c, loop, piece).bytes : 0;
    Time end = scheduler_.now();
    if (piece == 0)
        end += params_.simple.slice_overhead;
    if (bytes > 0) {
        const std::uint32_t busy =
            (b.scattering ? warps.scatter : 0) + (b.gathering ? warps.gather : 0);
        // The warps quantise what they copy, and back.
        const std::uint64_t narrow =
            carried_bytes(bytes, gather ? format_.sums() : format_.operands());
        const Time served =
            ports_[member]->access(gather ? narrow : bytes, gather ? bytes : narrow);
        end = std::max(
            served, end + copy_time(params_, gather ? warps.gather : warps.scatter, busy, bytes));
    }
    post(gather ? Stage::kGather : Stage::kScatter, member, c, end);
}

void NvlsLoops::scatter(std::uint32_t member, std::uint32_t c) {
    NvlsBlock& b = block(member, c);
    const NvlsChannel& channel = channels_[c];
    if (b.scattering || b.scattered == channel.loops ||
        b.scattered - channel.finished >= channel.slots.size())
        return;  // peers store into the slot: it is free when every member is through with it
    b.scattering = true;
    b.scatter_piece = 0;
    copy_piece(member, c, false);
}

void NvlsLoops::end_scatter(std::uint32_t member, std::uint32_t c) {
    NvlsBlock& b = block(member, c);
    if (++b.scatter_piece < pieces_in(c, b.scattered)) {
        copy_piece(member, c, false);
        return;
    }
    NvlsSlot& slot = channels_[c].slot(b.scattered++);
    b.scattering = false;
    note_turn(b, Turning::kScattered);
    // The warp that fences and posts lets the others go on.
    slot.posted_at = scheduler_.now() + params_.in_switch_sync;
    if (++slot.posted == ports_.size())
        post(Stage::kPosted, 0, c, slot.posted_at);
    scatter(member, c);
}

void NvlsLoops::on_posted(std::uint32_t c) {
    ++channels_[c].posted;
    for (std::uint32_t head = 0; head < ports_.size(); ++head) {
        const NvlsBlock& b = block(head, c);
        if (b.reducing && b.reduced == channels_[c].posted - 1)
            answer_poll(head, c);
        else
            listener_.on_posted(head, c);
    }
}

void NvlsLoops::await_piece(std::uint32_t member, std::uint32_t c) {
    NvlsBlock& b = block(member, c);
    SWITCHFOLD_CHECK(!b.reducing, "a head reduces two pieces at once");
    b.reducing = true;
    b.requested = b.answered = 0;
    if (b.reduced < b.seen) {
        listener_.on_piece_due(member, c);
        return;
    }
    b.poll_since = scheduler_.now();
    if (b.reduced < channels_[c].posted)
        answer_poll(member, c);
}

void NvlsLoops::answer_poll(std::uint32_t member, std::uint32_t c) {
    NvlsBlock& b = block(member, c);
    // A poll goes round through the switch: up, down to the members, and the answers back.
    const Poll poll = poll_until(b.poll_since, to_root_ * 4, scheduler_.now());
    b.sampled = poll.sampled;
    post(Stage::kReduce, member, c, poll.answered);
}

void NvlsLoops::end_poll(std::uint32_t member, std::uint32_t c) {
    NvlsBlock& b = block(member, c);
    NvlsChannel& channel = channels_[c];
    b.seen = b.reduced + 1;
    while (b.seen < channel.posted && channel.slot(b.seen).posted_at <= b.sampled)
        ++b.seen;
    listener_.on_piece_due(member, c);
}

std::uint64_t NvlsLoops::end_piece(std::uint32_t member, std::uint32_t c) {
    NvlsBlock& b = block(member, c);
    b.reducing = false;
    const std::uint64_t loop = b.reduced++;
    note_turn(b, Turning::kReduced);
    return loop;
}

void NvlsLoops::end_store(std::uint32_t member, std::uint32_t c) {
    NvlsBlock& b = block(member, c);
    ++b.stored;
    if (counts_stores_)
        note_turn(b, Turning::kStored);
}

void NvlsLoops::delivered(
    std::uint32_t c, std::uint32_t index, std::uint32_t head, std::uint64_t bytes, Time visible) {
    NvlsSlot& slot = channels_[c].slots[index];
    SWITCHFOLD_CHECK(slot.missing[head] >= bytes, "more sums than a piece holds");
    slot.missing[head] -= bytes;
    slot.delivered_at[head] = std::max(slot.delivered_at[head], visible);
    if (slot.missing[head] > 0)
        return;
    // The last acknowledgement comes back to the head, whose post then goes out to all.
    const Time posted = slot.delivered_at[head] + to_root_ * 4 + params_.in_switch_sync;
    slot.heads_at = std::max(slot.heads_at, posted);
    slot.heads += each_;
    if (slot.heads >= pieces_.working_heads(c, slot.loop))
        post(Stage::kSums, 0, c, slot.heads_at);
}

void NvlsLoops::gather(std::uint32_t member, std::uint32_t c) {
    NvlsBlock& b = block(member, c);
    NvlsChannel& channel = channels_[c];
    if (b.gathering || b.gathered == channel.loops)
        return;
    const NvlsSlot& slot = channel.slot(b.gathered);
    if (slot.loop != b.gathered || slot.heads < pieces_.working_heads(c, slot.loop) ||
        slot.heads_at > scheduler_.now())
        return;
    b.gathering = true;
    b.gather_piece = 0;
    copy_piece(member, c, true);
}

void NvlsLoops::end_gather(std::uint32_t member, std::uint32_t c) {
    NvlsBlock& b = block(member, c);
    if (++b.gather_piece < pieces_in(c, b.gathered)) {
        copy_piece(member, c, true);
        return;
    }
    b.gathering = false;
    end_loop(member, c, b.gathered++);
    gather(member, c);
}

void NvlsLoops::end_loop(std::uint32_t member, std::uint32_t c, std::uint64_t loop) {
    NvlsChannel& channel = channels_[c];
    NvlsSlot& slot = channel.slot(loop);
    NvlsBlock& b = block(member, c);
    ++b.ended;
    note_turn(b, Turning::kEnded);
    const bool all = ++slot.ended == ports_.size();
    if (all) {
        slot.loop += channel.slots.size();
        slot.posted = slot.heads = slot.ended = 0;
        slot.posted_at = slot.heads_at = Time();
        std::fill(slot.delivered_at.begin(), slot.delivered_at.end(), Time());
        ++channel.finished;
    }
    if (loop + 1 == channel.loops)
        listener_.on_channel_done(member, c);
    if (all)
        listener_.on_freed(c);
}

std::vector<std::string>
NvlsLoops::blocked(const std::vector<std::uint32_t>& ranks, std::size_t limit) const {
    std::vector<std::string> lines;
    for (std::uint32_t member = 0; member < ports_.size(); ++member)
        for (std::uint32_t c = 0; c < channels_.size() && lines.size() < limit; ++c) {
            const NvlsChannel& channel = channels_[c];
            const NvlsBlock& b = blocks_[std::size_t{member} * channels_.size() + c];
            if (b.ended == channel.loops)
                continue;
            lines.push_back(fmt::format(
                "rank {} channel {}: scattered {}, reduced {}, stored {}, gathered {} of {} loops",
                ranks[member], c, b.scattered, b.reduced, b.stored, b.gathered, channel.loops));
        }
    return lines;
}

}  // namespace switchfold
