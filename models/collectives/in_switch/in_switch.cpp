// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "models/collectives/in_switch/domain_groups.h"
#include "models/collectives/in_switch/in_switch_base.h"
#include "models/collectives/in_switch/in_switch_steps.h"
#include "models/collectives/in_switch/nvls_loops.h"
#include "models/collectives/in_switch/warp_rounds.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

/// NVLS all-reduce (NCCL device/all_reduce.h): rank h is the head of piece h of every loop. Its
/// reducing warps load the piece, the sum of all members', in rounds of as much as they hold, and
/// store each sum to all members. With registered buffers nobody copies. Where the switch stores to
/// all on a command, the sums do not pass through the head: it asks on when its own copy has come.
class PullAllReduce final : public InSwitchCollective, public Repeating, private NvlsLoopsListener {
public:
    PullAllReduce(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::unique_ptr<ReductionGroup> group);
    /// Of a folded domain (rank_fold.h). `last`: the group of the last loop, in which fewer heads
    /// have a piece; null if all have.
    PullAllReduce(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::unique_ptr<ReductionGroup> group,
        std::unique_ptr<ReductionGroup> last) :
        PullAllReduce(environment, spec, listener, std::move(group)) {
        last_ = std::move(last);
    }
    ~PullAllReduce() override {
        if (last_)
            fabric_.remove_group(*last_);
    }
    PullAllReduce(const PullAllReduce&) = delete;
    PullAllReduce& operator=(const PullAllReduce&) = delete;
    PullAllReduce(PullAllReduce&&) = delete;
    PullAllReduce& operator=(PullAllReduce&&) = delete;

    void join(std::uint32_t position, Time start) override;
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override;
    [[nodiscard]] Bytes footprint() const override { return footprint_; }
    [[nodiscard]] Bytes coarse() const override { return coarse_; }
    [[nodiscard]] PeriodDetector* turns() override { return turns_ ? &*turns_ : nullptr; }
    [[nodiscard]] std::uint64_t
    skippable(std::uint32_t lane, std::uint64_t /*unit*/) const override {
        return registered_ ? skippable_rounds(lane) : loops_.skippable(lane);
    }
    void skip(std::uint32_t lane, std::uint64_t turns) override;
    void abandon() override;

private:
    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override;
    std::uint32_t supply(const Packet& packet, std::uint32_t rank) override;
    void on_departure(std::uint64_t /*tag*/, Time /*departure*/) override {}
    void on_joined(std::uint32_t position, std::uint32_t channel) override;
    void on_piece_due(std::uint32_t position, std::uint32_t channel) override;
    void on_freed(std::uint32_t channel) override;
    void on_channel_done(std::uint32_t position, std::uint32_t /*channel*/) override {
        end_channel(position);
    }
    [[nodiscard]] Part piece(std::uint32_t channel, std::uint64_t loop, std::uint32_t head) const {
        return shape_.pieces.piece(channel, loop, head);
    }
    void request(std::uint32_t position, std::uint32_t channel);
    void count_turns();
    /// Registered buffers have one long piece a block, whose turns are a warp's rounds, and whose
    /// cycles are hunks of them.
    [[nodiscard]] std::uint64_t skippable_rounds(std::uint32_t block) const;
    void skip_rounds(std::uint32_t block, std::uint64_t rounds);
    [[nodiscard]] const ReductionGroup& group_in(std::uint32_t channel, std::uint64_t loop) {
        return last_ && loop + 1 == loops_.channel(channel).loops ? *last_ : *group_;
    }
    /// Members at which a head's sums of a loop arrive; in a folded domain the heads whose sums
    /// arrive at the one member.
    [[nodiscard]] std::uint64_t copies_in(std::uint32_t channel, std::uint64_t loop) {
        return group_in(channel, loop).members;
    }
    /// Where a block's packets are of several rounds they take turns on the links: each block
    /// starts at another, as their addresses would.
    static std::uint64_t stripe(std::uint32_t head, std::uint32_t channel, std::uint32_t packet) {
        return std::uint64_t{head} * 7 + std::uint64_t{channel} * 5 + packet;
    }
    /// The next number of a block's packets of that kind.
    std::uint32_t
    next(std::vector<std::uint32_t>& numbers, std::uint32_t head, std::uint32_t channel) {
        return numbers[std::size_t{head} * loops_.channels() + channel]++;
    }
    [[nodiscard]] PullLoad load(const CollectiveSpec& spec) const;
    /// Most of a warp's round that travels as one packet. A warp waits for all that it asked for
    /// before it stores and asks on: a larger packet would fold several warps' rounds into one and
    /// travel longer than any of them.
    [[nodiscard]] std::uint32_t unit_of(const CollectiveParams& params) const {
        const std::uint64_t most = params.transfer_unit.count() * moved_.sent;
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(round_, whole_blocks(most)));
    }
    [[nodiscard]] std::uint64_t offset_of(const PieceTag& tag) const {
        return std::uint64_t{tag.unit} * kReduceGrain;
    }
    /// Of a round that begins there: all of it takes one way.
    [[nodiscard]] std::uint64_t slot_of(const Part& piece, std::uint64_t offset) const {
        return (piece.begin + offset / round_ * round_) / round_;
    }
    void on_sum(const Packet& packet, std::uint32_t position);
    /// The sums of whole rounds go to all members.
    void store(std::span<const Packet> round, std::uint32_t head);
    [[nodiscard]] bool carries_rounds(const Packet& packet) const {
        return packet.lines > 1 || unit_ == round_;
    }
    /// Another packet of a round is there. \returns all of them if it is the last.
    std::vector<Packet> round_of(const Packet& packet, std::uint32_t head);
    /// So many rounds that the head asked for have their sums.
    void
    answered(std::uint32_t head, std::uint32_t channel, std::uint64_t bytes, std::uint32_t rounds);
    void end_piece(std::uint32_t head, std::uint32_t channel);
    void on_store(const Packet& packet, std::uint32_t position, Time visible);

    InSwitchShape shape_;
    std::uint32_t round_;  ///< bytes that a warp asks for in one go
    std::uint32_t unit_;   ///< of which one packet carries so many
    RoundsInPacket rounds_;
    WarpRounds open_;
    bool commands_;  ///< the switch stores the sums to all
    NvlsLoops loops_;
    std::vector<std::uint32_t> requests_;  ///< by block: packets, where they are of several rounds
    std::vector<std::uint32_t> stores_;
    std::optional<PeriodDetector> turns_;
    std::uint64_t hunk_ = 0;  ///< rounds of a warp, where pieces are registered buffers
    Bytes footprint_;
    Bytes coarse_;
    std::unique_ptr<ReductionGroup> last_;
};

constexpr std::uint64_t kMostTurns = 32;  // in a window
constexpr std::uint64_t kHunksInPiece = 128;
constexpr std::uint64_t kLeastHunk = 8;     // rounds of a warp
constexpr std::uint64_t kLargestHunk = 64;  // likewise
constexpr std::uint64_t kFewestHunks = 16;  // that show a motion

InSwitchShape shape_of(const CollectiveParams& params, const CollectiveSpec& spec) {
    return in_switch_shape(
        params, spec.size(), spec.choice.channels, spec.bytes.count(),
        spec.choice.of<NcclConfig>().registered, moved_bytes(spec.format()));
}

PullAllReduce::PullAllReduce(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::unique_ptr<ReductionGroup> group) :
    InSwitchCollective(environment, spec, listener, std::move(group)),
    shape_(shape_of(environment.params, spec)),
    round_(shape_.reduce_round),
    unit_(unit_of(environment.params)),
    open_(std::size_t{n_} * spec.choice.channels),
    commands_(spec.choice.of<NcclConfig>().mode == InSwitchMode::kCommand),
    loops_(
        {scheduler_, environment.params, ports_of_members(), group_->to_root(), spec.size() / n_,
         format_},
        shape_.pieces,
        std::vector<NvlsCopyWarps>(
            spec.choice.channels, {shape_.scatter_workers, shape_.gather_workers}),
        !registered_, *this),
    requests_(std::size_t{n_} * spec.choice.channels),
    stores_(requests_.size()) {
    // Where what all blocks ask for does not fit the tables each of the units' lines finds its own
    // entry, whatever a packet may be.
    const std::uint64_t asked =
        std::uint64_t{group_->members} * spec.choice.channels * shape_.reduce_window;
    if (fabric_.push_room(*group_) < asked)
        unit_ = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(round_, fabric_.reduction_line(*group_).count() * moved_.sent));
    if (environment.may_jump) {
        // Packets of several rounds need tables that never decide, and one switch: those of several
        // pass them on in parts.
        const bool one_switch = std::ranges::all_of(
            group_->planes, [](const ReductionPlane& plane) { return plane.switches.size() == 1; });
        if (spec.stands_for == 0 && one_switch && !format_.quantised.used() &&
            unit_ == unit_of(environment.params))
            rounds_ = rounds_in_packet(load(spec));
        count_turns();
    }
    const std::uint64_t bytes = spec.bytes.count();
    const std::uint64_t buffered =
        params_.steps * shape_.chunk * spec.choice.channels * spec.size();
    footprint_ = registered_ ? Bytes(0) : both_buffers(std::min(bytes, buffered));
}

PullLoad PullAllReduce::load(const CollectiveSpec& spec) const {
    const std::vector<Bandwidth> rates = group_->rates();
    double rate = 0;
    for (const Bandwidth link : rates)
        rate += static_cast<double>(link.count());
    // A request goes to the root and to the members, their data back to it and on to the head.
    const double answered = 4 * to_seconds(group_->to_root());
    return {
        .heads = n_,
        .rounds = spec.bytes.count() / round_,
        .asked = std::uint64_t{n_} * spec.choice.channels * shape_.reduce_window,
        .held = static_cast<std::uint64_t>(rate * answered),
        .links = rates.size(),
        .registered = registered_,
        // What the unit behind one lane of one port holds.
        .room = fabric_.push_room(*group_) / n_ / group_->stripes.size() / round_};
}

void PullAllReduce::count_turns() {
    if (!registered_) {
        turns_.emplace(1, 1, kMostTurns);
        turns_->rest_early();
        loops_.count_turns(*turns_, false, true);
        return;
    }
    hunk_ = std::clamp(shape_.chunk / kHunksInPiece / round_, kLeastHunk, kLargestHunk);
    turns_.emplace(hunk_, hunk_, kMostTurns * hunk_);
    turns_->set_fewest(static_cast<double>(kFewestHunks * hunk_));
    for (std::uint32_t block = 0; block < n_ * loops_.channels(); ++block)
        turns_->add(block);
}

void PullAllReduce::skip(std::uint32_t lane, std::uint64_t turns) {
    if (registered_) {
        skip_rounds(lane, turns);
        return;
    }
    shape_.pieces.skip(lane, turns);
    loops_.skip(lane, turns);
}

std::uint64_t PullAllReduce::skippable_rounds(std::uint32_t block) const {
    const std::uint32_t head = block / loops_.channels();
    const std::uint32_t c = block % loops_.channels();
    const NvlsBlock& b = loops_.block(head, c);
    if (!b.reducing || b.requested == 0)
        return 0;
    const std::uint64_t left = (piece(c, b.reduced, head).bytes - b.requested) / round_;
    return left - std::min(left, kLastTurns * hunk_);
}

void PullAllReduce::skip_rounds(std::uint32_t block, std::uint64_t rounds) {
    if (rounds == 0)
        return;
    const std::uint32_t head = block / loops_.channels();
    const std::uint32_t c = block % loops_.channels();
    NvlsBlock& b = loops_.block(head, c);
    b.requested += rounds * round_;
    b.answered += rounds * round_;
    loops_.leave_out(c, b.reduced, head, rounds * round_ * copies_in(c, b.reduced));
}

void PullAllReduce::abandon() {
    InSwitchCollective::abandon();
    loops_.abandon();
    // A command's packets have stored their values already.
    for (const Packet& answer : open_.abandon())
        if (!commands_)
            fabric_.values().drop(answer.values);
}

void PullAllReduce::join(std::uint32_t position, Time start) {
    begin(position, start, loops_.busy_channels());
    for (std::uint32_t c = 0; c < loops_.channels(); ++c)
        if (loops_.channel(c).loops > 0)
            loops_.join(position, c, start);
}

void PullAllReduce::on_joined(std::uint32_t position, std::uint32_t channel) {
    loops_.scatter(position, channel);
    loops_.await_piece(position, channel);
}

void PullAllReduce::on_freed(std::uint32_t channel) {
    for (std::uint32_t position = 0; position < n_; ++position)
        loops_.scatter(position, channel);
}

void PullAllReduce::on_piece_due(std::uint32_t head, std::uint32_t c) {
    const std::uint64_t loop = loops_.block(head, c).reduced;
    const std::uint64_t bytes = piece(c, loop, head).bytes;
    if (bytes == 0) {
        end_piece(head, c);
        return;
    }
    loops_.expect(c, loop, head, bytes * copies_in(c, loop));
    request(head, c);
}

void PullAllReduce::request(std::uint32_t head, std::uint32_t c) {
    NvlsBlock& b = loops_.block(head, c);
    NvlsChannel& channel = loops_.channel(c);
    const Part part = piece(c, b.reduced, head);
    const std::uint32_t place = channel.slot_of(b.reduced);
    while (b.requested < part.bytes) {
        const std::uint64_t done = b.reduced * shape_.chunk + b.requested;
        const std::uint64_t all = channel.loops * shape_.chunk;
        const std::uint64_t most = round_ * rounds_.of(done / round_, (all - done) / round_);
        const std::uint64_t window = std::max<std::uint64_t>(shape_.reduce_window, most);
        if (b.requested != b.answered && b.requested - b.answered + most > window)
            break;
        const std::uint64_t end = std::min(b.requested + most, part.bytes);
        const std::uint64_t largest = most > round_ ? most : unit_;
        const std::uint64_t slot = rounds_.most > 1 ? stripe(head, c, next(requests_, head, c))
                                                    : slot_of(part, b.requested);
        while (b.requested < end) {
            const auto bytes = static_cast<std::uint32_t>(std::min(largest, end - b.requested));
            const auto place_in_piece = static_cast<std::uint32_t>(b.requested / kReduceGrain);
            fabric_.send(
                group_in(c, b.reduced), head,
                {.kind = commands_ ? PacketKind::kReduceCommand : PacketKind::kReduceRequest,
                 .payload = bytes,
                 .tag = PieceTag{c, place, head, place_in_piece}.pack(),
                 .client = client_,
                 .slot = slot,
                 .lines = static_cast<std::uint8_t>((bytes + round_ - 1) / round_)});
            b.requested += bytes;
            if (bytes > round_)
                coarse_ += Bytes(bytes);
        }
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
    if (!commands_ || !own)
        return;
    const std::uint32_t channel = PieceTag::unpack(packet.tag).channel;
    if (carries_rounds(packet)) {
        answered(position, channel, packet.payload, packet.lines);
        return;
    }
    std::uint64_t bytes = 0;
    for (const Packet& part : round_of(packet, position))
        bytes += part.payload;
    if (bytes > 0)
        answered(position, channel, bytes, 1);
}

std::vector<Packet> PullAllReduce::round_of(const Packet& packet, std::uint32_t head) {
    const PieceTag tag = PieceTag::unpack(packet.tag);
    const std::uint64_t round = offset_of(tag) / round_;
    const Part part = piece(tag.channel, loops_.block(head, tag.channel).reduced, head);
    return open_.note(
        std::size_t{head} * loops_.channels() + tag.channel, round,
        std::min<std::uint64_t>(round_, part.bytes - round * round_), packet);
}

void PullAllReduce::on_sum(const Packet& packet, std::uint32_t head) {
    // The sums are in registers; the warps that asked for them store them to everybody and ask on.
    if (carries_rounds(packet)) [[likely]] {
        store({&packet, 1}, head);
    } else {
        const std::vector<Packet> round = round_of(packet, head);
        store(round, head);
    }
}

void PullAllReduce::store(std::span<const Packet> round, std::uint32_t head) {
    if (round.empty())
        return;
    const PieceTag tag = PieceTag::unpack(round.front().tag);
    const std::uint64_t loop = loops_.block(head, tag.channel).reduced;
    const std::uint64_t slot = rounds_.most > 1
                                   ? stripe(head, tag.channel, next(stores_, head, tag.channel))
                                   : slot_of(piece(tag.channel, loop, head), offset_of(tag));
    std::uint64_t bytes = 0;
    for (const Packet& sum : round) {
        fabric_.send(
            group_in(tag.channel, loop), head,
            {.kind = PacketKind::kMulticastWrite,
             .payload = sum.payload,
             .tag = sum.tag,
             .client = client_,
             .slot = slot,
             .values = sum.values,
             .lines = sum.lines});
        bytes += sum.payload;
    }
    answered(head, tag.channel, bytes, round.front().lines);
}

void PullAllReduce::answered(
    std::uint32_t head, std::uint32_t channel, std::uint64_t bytes, std::uint32_t rounds) {
    NvlsBlock& b = loops_.block(head, channel);
    const Part part = piece(channel, b.reduced, head);
    b.answered += bytes;
    if (registered_ && turns_)
        turns_->note(head * loops_.channels() + channel, scheduler_.now().count(), rounds);
    if (b.answered == part.bytes)
        end_piece(head, channel);
    else if (b.requested < part.bytes)
        request(head, channel);
}

void PullAllReduce::end_piece(std::uint32_t head, std::uint32_t c) {
    loops_.end_piece(head, c);
    if (loops_.block(head, c).reduced < loops_.channel(c).loops)
        loops_.await_piece(head, c);
}

std::uint32_t PullAllReduce::supply(const Packet& packet, std::uint32_t rank) {
    if (!functional_)
        return 0;
    const PieceTag tag = PieceTag::unpack(packet.tag);
    const std::uint64_t loop = loops_.channel(tag.channel).slots[tag.slot].loop;
    const Part part = piece(tag.channel, loop, tag.head);
    return operands(
        position_of(rank), part.begin + offset_of(tag) + fetched_from(packet), packet.payload);
}

void PullAllReduce::on_store(const Packet& packet, std::uint32_t position, Time visible) {
    const PieceTag tag = PieceTag::unpack(packet.tag);
    if (functional_) {
        const std::uint64_t loop = loops_.channel(tag.channel).slots[tag.slot].loop;
        keep_values(
            position, piece(tag.channel, loop, tag.head).begin + offset_of(tag), packet.values);
    }
    loops_.delivered(tag.channel, tag.slot, tag.head, packet.payload, visible);
}

std::vector<std::string> PullAllReduce::blocked(std::size_t limit) const {
    return loops_.blocked(spec_.ranks, limit);
}

}  // namespace

std::unique_ptr<RunningCollective> make_pull_all_reduce(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& refused) {
    if (spec.stands_for == 0)
        return make_group_collective<PullAllReduce>(environment, spec, listener, refused);
    const CollectiveParams& params = environment.params;
    const InSwitchShape shape = shape_of(params, spec);
    DomainGroups groups = create_folded_groups(
        environment.fabric, 0, shape.pieces, shape.reduce_round, spec.element, refused);
    if (!groups.all)
        return nullptr;
    return std::make_unique<PullAllReduce>(
        environment, spec, listener, std::move(groups.all), std::move(groups.last));
}

}  // namespace switchfold
