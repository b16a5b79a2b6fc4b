// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "models/collectives/fifo/step.h"
#include "models/collectives/in_switch/in_switch_base.h"
#include "models/collectives/in_switch/in_switch_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

namespace switchfold {

namespace {

/// What one instruction of a warp stores. The next one's lines have another home and take another
/// lane, so nothing larger meets at one adder. Stripes and homes go by it, whatever a packet is.
constexpr std::uint64_t kWarpStore = 32 * 16;
/// A long part's lines go in trains, which are cheaper to simulate: one that is so many windows
/// long, so that neither its first lines nor its last, which a train holds up, count.
constexpr std::uint64_t kWindowsOfTrains = 8;
constexpr std::uint64_t kTrainsInWindow = 8;  // at least, or its end would wait for whole trains
/// Where tables can be full, who stalls or is evicted hangs on each line. A member is never further
/// ahead of another than its window; twice that, since lines are not spread evenly.
constexpr std::uint64_t kRoomForTrains = 2;

/// All-reduce by pushes (Klenk et al., ISCA 2020): every rank writes its whole buffer to a region
/// that the switch reduces, and the sum of each line comes to every rank when the last rank's
/// operands are in. No barrier is needed: a line cannot be complete, nor its place overwritten,
/// before its own rank has pushed it. A block has `outstanding_loads` bytes under way. Partial
/// sums that the switches had to give up go to the line's home, a member that adds them and stores
/// the sum to all. Without registered buffers each block copies the sums out of the region.
class PushAllReduce final : public InSwitchCollective, private EventHandler {
public:
    PushAllReduce(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::unique_ptr<ReductionGroup> group);

    void join(std::uint32_t position, Time start) override;
    void abandon() override;
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override;
    [[nodiscard]] Bytes footprint() const override { return footprint_; }
    [[nodiscard]] bool leaves_operands() const override { return true; }

private:
    enum class Stage : std::uint8_t { kPush, kMerged, kEnd };
    struct Block {
        std::uint64_t sent = 0;
        std::uint64_t arrived = 0;
        std::uint64_t copied = 0;  ///< ps at which what has arrived is in the user's buffer
        std::uint64_t merge_free = 0;
    };
    /// What a line's home has of it.
    struct Merge {
        std::uint32_t count = 0;
        std::uint32_t payload = 0;
        std::vector<std::uint32_t> values;
    };

    /// A stripe's place among those of its plane.
    struct Turn {
        std::uint32_t number;
        std::uint32_t of;
    };

    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override;
    std::uint32_t supply(const Packet& /*packet*/, std::uint32_t /*rank*/) override { return 0; }
    void on_departure(std::uint64_t /*tag*/, Time /*departure*/) override {}
    void on_event(std::uint64_t tag) override;

    Block& block(std::uint32_t position, std::uint32_t channel) {
        return blocks_[std::size_t{position} * parts_.size() + channel];
    }
    [[nodiscard]] std::uint64_t offset_of(std::uint64_t tag) const {
        return parts_[tag >> 40U].begin + (tag & kUnitMask) * unit_;
    }
    /// The train that a line is in: its stripe. They are counted over the whole buffer, channel
    /// after channel.
    [[nodiscard]] std::uint64_t train_of(std::uint64_t tag) const {
        const std::uint64_t train = ((tag & kUnitMask) * unit_ >> store_bits_) / lines_ * lines_;
        return ((parts_[tag >> 40U].begin >> store_bits_) + train) / lines_;
    }
    [[nodiscard]] std::uint32_t home_of(std::uint64_t tag) const {
        // Neighbours have different homes, and every stripe meets every home.
        const std::uint64_t stripes = group_->stripes.size();
        const std::uint64_t train = train_of(tag);
        const std::uint64_t round = train / stripes;
        if (lines_ == 1)
            return static_cast<std::uint32_t>((train + round) % n_);
        // Trains that follow each other in one plane go round, and those of channels side by side.
        const Turn& turn = turns_[train % stripes];
        const std::uint64_t place = round * turn.of + turn.number + (tag >> 40U);
        return static_cast<std::uint32_t>((place * lines_ + (tag & kUnitMask) % lines_) % n_);
    }
    [[nodiscard]] std::uint32_t packet_of(std::uint64_t most, std::uint32_t channels) const;
    [[nodiscard]] std::uint32_t lines_in_train(std::uint64_t most, std::uint32_t channels) const;
    [[nodiscard]] Time pace(std::uint64_t bytes) const;
    void push(std::uint32_t position, std::uint32_t channel);
    void on_sum(const Packet& packet, std::uint32_t position, Time visible);
    void on_partial(const Packet& packet, std::uint32_t position, Time visible);
    void send_merged(std::uint64_t line);

    static constexpr std::uint64_t kUnitMask = (1ULL << 40U) - 1;
    std::uint64_t store_;  ///< what an instruction of a warp stores, a power of two
    unsigned store_bits_;
    std::uint32_t unit_ = 0;   ///< bytes of a packet, or of a line of a train
    std::uint32_t lines_ = 1;  ///< of a train
    std::uint64_t window_;
    std::vector<Turn> turns_;  ///< by stripe
    std::vector<Part> parts_;  ///< by channel
    std::vector<Block> blocks_;
    std::unordered_map<std::uint64_t, Merge> merges_;
    std::vector<std::uint64_t> merged_;  ///< lines under way from their home, by event
    Bytes footprint_;
};

PushAllReduce::PushAllReduce(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::unique_ptr<ReductionGroup> group) :
    InSwitchCollective(environment, spec, listener, std::move(group)),
    store_(whole_blocks(kWarpStore * moved_.sent)),
    store_bits_(static_cast<unsigned>(std::countr_zero(store_))),
    window_(environment.params.outstanding_loads.count() * moved_.sent),
    footprint_(registered_ ? Bytes(0) : Bytes(carried_bytes(spec.bytes.count(), format_.sums()))) {
    const std::uint32_t channels = spec.choice.channels;
    for (std::uint32_t c = 0; c < channels; ++c)
        parts_.push_back(part_of_channel(spec.bytes.count(), channels, c, moved_.grain));
    blocks_.resize(std::size_t{n_} * channels);
    const std::vector<std::uint32_t>& stripes = group_->stripes;
    for (auto at = stripes.begin(); at != stripes.end(); ++at)
        turns_.push_back(
            {static_cast<std::uint32_t>(std::count(stripes.begin(), at, *at)),
             static_cast<std::uint32_t>(std::count(stripes.begin(), stripes.end(), *at))});
    const std::uint64_t most = environment.params.transfer_unit.count() * moved_.sent;
    unit_ = packet_of(most, channels);
    lines_ = lines_in_train(most, channels);
}

std::uint32_t PushAllReduce::packet_of(std::uint64_t most, std::uint32_t channels) const {
    // Where tables are smaller than what is under way each of the units' lines finds its own
    // entry, or waits alone.
    if (fabric_.push_room(*group_) < window_ * channels)
        most = fabric_.reduction_line(*group_).count() * moved_.sent;
    return static_cast<std::uint32_t>(std::min(store_, whole_blocks(most)));
}

std::uint32_t PushAllReduce::lines_in_train(std::uint64_t most, std::uint32_t channels) const {
    if (unit_ < store_ || parts_.back().bytes < kWindowsOfTrains * window_ ||
        fabric_.push_room(*group_) < kRoomForTrains * window_ * channels)
        return 1;
    // A window is filled by whole trains.
    std::uint32_t lines = kLinesInTrain;
    while (lines > 1 && (lines * unit_ > most || lines * unit_ * kTrainsInWindow > window_ ||
                         window_ % (lines * unit_) != 0))
        lines /= 2;
    return lines;
}

Time PushAllReduce::pace(std::uint64_t bytes) const {
    const std::uint64_t round = kWarpCopy * std::max(1U, params_.in_switch_threads / kWarpThreads);
    return Time(params_.in_switch_copy_round.count() * bytes / round);
}

void PushAllReduce::join(std::uint32_t position, Time start) {
    const auto busy = std::count_if(
        parts_.begin(), parts_.end(), [](const Part& part) { return part.bytes > 0; });
    begin(position, start, static_cast<std::uint32_t>(busy));
    for (std::uint32_t c = 0; c < parts_.size(); ++c)
        if (parts_[c].bytes > 0) {
            // The first loads of the own buffer have to come back; later ones are under way by
            // then.
            scheduler_.at(
                start + params_.in_switch_copy_round, *this,
                static_cast<std::uint64_t>(Stage::kPush) << 60U | std::uint64_t{c} << 32U |
                    position);
        }
}

void PushAllReduce::abandon() {
    InSwitchCollective::abandon();
    for (const auto& [line, merge] : merges_)
        for (const std::uint32_t handle : merge.values)
            fabric_.values().drop(handle);
    merges_.clear();
}

void PushAllReduce::on_event(std::uint64_t tag) {
    if (abandoned_)
        return;
    switch (static_cast<Stage>(tag >> 60U)) {
    case Stage::kPush:
        push(static_cast<std::uint32_t>(tag), static_cast<std::uint32_t>(tag >> 32U) & 0xFFFFU);
        break;
    case Stage::kMerged:
        send_merged(merged_[static_cast<std::uint32_t>(tag)]);
        break;
    case Stage::kEnd:
        end_channel(static_cast<std::uint32_t>(tag));
        break;
    }
}

void PushAllReduce::push(std::uint32_t position, std::uint32_t c) {
    Block& b = block(position, c);
    const Part& part = parts_[c];
    const std::uint64_t train = std::uint64_t{unit_} * lines_;
    while (b.sent < part.bytes && (b.sent == b.arrived || b.sent - b.arrived + train <= window_)) {
        const bool whole = part.bytes - b.sent >= train;
        const auto bytes = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(whole ? train : unit_, part.bytes - b.sent));
        port(position).access(bytes, 0);
        const std::uint64_t tag = std::uint64_t{c} << 40U | b.sent / unit_;
        const std::uint64_t offset = part.begin + b.sent;
        fabric_.send(
            *group_, position,
            {.kind = PacketKind::kReducePush,
             .payload = bytes,
             .tag = tag,
             .client = client_,
             .slot = train_of(tag),
             .values = operands(position, offset, bytes),
             .home = home_of(tag),
             .lines = static_cast<std::uint8_t>(whole ? lines_ : 1)});
        b.sent += bytes;
    }
}

void PushAllReduce::on_packet(const Packet& packet, std::uint32_t rank, Time visible) {
    if (abandoned_) {
        fabric_.values().drop(packet.values);
        return;
    }
    if (packet.kind == PacketKind::kMulticastCopy)
        on_sum(packet, position_of(rank), visible);
    else if (packet.count == 0)
        listener_.on_failure(kUnitTimedOut);
    else
        on_partial(packet, position_of(rank), visible);
}

void PushAllReduce::on_sum(const Packet& packet, std::uint32_t position, Time visible) {
    const auto c = static_cast<std::uint32_t>(packet.tag >> 40U);
    Block& b = block(position, c);
    keep_values(position, offset_of(packet.tag), packet.values);
    b.arrived += packet.payload;
    SWITCHFOLD_CHECK(b.arrived <= parts_[c].bytes, "more sums than a channel holds");
    b.copied = std::max(b.copied, visible.count());
    if (!registered_) {
        const Time served =
            port(position).access(stored_bytes(packet.payload, packet.width), packet.payload);
        b.copied = std::max(b.copied + pace(packet.payload).count(), served.count());
    }
    if (b.arrived < parts_[c].bytes) {
        push(position, c);
        return;
    }
    const Time last = registered_ ? Time() : params_.in_switch_copy_round;
    scheduler_.at(
        std::max(scheduler_.now(), Time(b.copied) + last + params_.push_poll), *this,
        static_cast<std::uint64_t>(Stage::kEnd) << 60U | position);
}

void PushAllReduce::on_partial(const Packet& packet, std::uint32_t position, Time visible) {
    Merge& merge = merges_[packet.tag];
    merge.count += packet.count;
    merge.payload = packet.payload;
    if (packet.values != 0)
        merge.values.push_back(packet.values);
    SWITCHFOLD_CHECK(merge.count <= n_, "a contribution was counted twice");
    // The home's block reads the part and adds it to what it has.
    Block& b = block(position, static_cast<std::uint32_t>(packet.tag >> 40U));
    const std::uint64_t bytes = carried_bytes(packet.payload, packet.width);
    const Time served = port(position).access(bytes, 0);
    b.merge_free =
        std::max(std::max(b.merge_free, visible.count()) + pace(bytes).count(), served.count());
    if (merge.count < n_)
        return;
    const auto event = static_cast<std::uint32_t>(merged_.size());
    merged_.push_back(packet.tag);
    scheduler_.at(
        std::max(
            scheduler_.now(),
            Time(b.merge_free) + params_.in_switch_copy_round + params_.push_poll),
        *this, static_cast<std::uint64_t>(Stage::kMerged) << 60U | event);
}

void PushAllReduce::send_merged(std::uint64_t line) {
    const auto at = merges_.find(line);
    Merge merge = std::move(at->second);
    merges_.erase(at);
    std::uint32_t sum = 0;
    if (!merge.values.empty())
        sum = fold(fabric_.values(), merge.values, format_, Accumulation::kFloat32, true);
    fabric_.send(
        *group_, home_of(line),
        {.kind = PacketKind::kMulticastWrite,
         .payload = merge.payload,
         .tag = line,
         .client = client_,
         .slot = train_of(line),
         .values = sum});
}

std::vector<std::string> PushAllReduce::blocked(std::size_t limit) const {
    std::vector<std::string> lines;
    for (std::uint32_t position = 0; position < n_; ++position)
        for (std::uint32_t c = 0; c < parts_.size() && lines.size() < limit; ++c) {
            const Block& b = blocks_[std::size_t{position} * parts_.size() + c];
            if (b.arrived < parts_[c].bytes)
                lines.push_back(fmt::format(
                    "rank {} channel {}: pushed {}, got {} of {} bytes", spec_.ranks[position], c,
                    b.sent, b.arrived, parts_[c].bytes));
        }
    return lines;
}

}  // namespace

std::unique_ptr<RunningCollective> make_push_all_reduce(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& refused) {
    return make_group_collective<PushAllReduce>(environment, spec, listener, refused);
}

}  // namespace switchfold
