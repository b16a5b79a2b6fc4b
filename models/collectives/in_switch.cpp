// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/running_collective.h"
#include "models/collectives/step.h"
#include "sim/core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace switchfold {

namespace {

/// NVLS all-reduce inside one switch domain (NCCL device/all_reduce.h, NVLS): rank h is the head of
/// piece h of every loop. Per channel, in a pipeline `steps` loops deep: every rank copies its
/// buffer into the multicast buffer (scatter); the head reads its piece reduced by the switch and
/// stores the sum to all (reduce); every rank copies the result out (gather). Barriers in between
/// go over counters that the switch itself combines. With registered buffers the copies fall away.
class InSwitchAllReduce final : public RunningCollective,
                                private PacketClient,
                                private EventHandler {
public:
    InSwitchAllReduce(
        const CollectiveEnvironment& environment,
        const CollectiveSpec& spec,
        MemberListener& listener);
    ~InSwitchAllReduce() override;

    void join(std::uint32_t position, Time start) override;
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override;
    [[nodiscard]] Bytes footprint() const override { return footprint_; }
    [[nodiscard]] std::vector<std::vector<float>>& buffers() override { return buffers_; }

private:
    enum class Stage : std::uint8_t { kScatter, kReduce, kGather };
    /// One rank's thread block of one channel: its three groups of warps.
    struct Block {
        bool joined = false;
        bool scattering = false;
        bool gathering = false;
        bool reducing = false;
        std::uint64_t scattered = 0;  ///< loops
        std::uint64_t reduced = 0;    ///< loops whose piece this head has stored
        std::uint64_t gathered = 0;
        std::uint64_t scatter_free = 0;  ///< ps
        std::uint64_t reduce_free = 0;
        std::uint64_t gather_free = 0;
        std::uint32_t requested = 0;  ///< bytes of the current piece
        std::uint32_t answered = 0;
        std::vector<std::uint64_t> arrived;  ///< result bytes of each loop in the pipeline
        std::vector<std::uint64_t> arrived_time;
    };
    struct Channel {
        Part part;
        std::uint64_t loops = 0;
        std::vector<std::uint32_t> scattered;       ///< ranks that have, by loop in the pipeline
        std::vector<std::uint64_t> scattered_time;  ///< when the last of them had
        std::vector<std::uint32_t> gathered;        ///< ranks that have, by loop in the pipeline
        std::uint64_t finished = 0;                 ///< loops that every rank has gathered
    };

    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override;
    std::uint32_t supply(const Packet& packet, std::uint32_t rank) override;
    void on_departure(std::uint64_t /*tag*/, Time /*departure*/) override {}
    void on_event(std::uint64_t tag) override;

    Block& block(std::uint32_t position, std::uint32_t channel) {
        return blocks_[std::size_t{position} * channels_.size() + channel];
    }
    [[nodiscard]] Part piece(const Channel& channel, std::uint64_t loop, std::uint32_t head) const;
    [[nodiscard]] std::uint64_t loop_bytes(const Channel& channel, std::uint64_t loop) const;
    [[nodiscard]] std::uint64_t pace(std::uint64_t bytes) const;
    void post(Stage stage, std::uint32_t position, std::uint32_t channel, std::uint64_t due);
    void try_scatter(std::uint32_t position, std::uint32_t channel);
    void try_reduce(std::uint32_t position, std::uint32_t channel);
    void request(std::uint32_t position, std::uint32_t channel);
    void try_gather(std::uint32_t position, std::uint32_t channel);
    void end_scatter(std::uint32_t position, std::uint32_t channel);
    void end_gather(std::uint32_t position, std::uint32_t channel);
    void on_sum(const Packet& packet, std::uint32_t position, Time visible);
    void on_store(const Packet& packet, std::uint32_t position, Time visible);

    /// A packet's tag: channel, loop (in the pipeline), head, unit.
    struct Tag {
        std::uint32_t channel;
        std::uint32_t slot;
        std::uint32_t head;
        std::uint32_t unit;
        [[nodiscard]] std::uint64_t pack() const {
            return std::uint64_t{channel} << 56U | std::uint64_t{slot} << 48U |
                   std::uint64_t{head} << 32U | unit;
        }
        static Tag unpack(std::uint64_t tag) {
            return {
                static_cast<std::uint32_t>(tag >> 56U),
                static_cast<std::uint32_t>(tag >> 48U) & 0xFFU,
                static_cast<std::uint32_t>(tag >> 32U) & 0xFFFFU,
                static_cast<std::uint32_t>(tag)};
        }
    };
    [[nodiscard]] std::uint64_t first_element(const Tag& tag, std::uint64_t loop) const;
    [[nodiscard]] std::uint32_t position_of(std::uint32_t rank) const;

    Fabric& fabric_;
    Scheduler& scheduler_;
    const std::vector<RankPort*>& ports_;
    CollectiveSpec spec_;
    MemberListener& listener_;
    std::unique_ptr<ReductionGroup> group_;
    std::uint32_t client_;
    std::uint32_t n_;
    std::uint32_t unit_;
    std::uint32_t window_;
    std::uint32_t depth_;
    std::uint64_t chunk_ = 0;
    std::uint64_t sync_;
    Bandwidth rate_;
    bool functional_;
    bool registered_;
    std::vector<Channel> channels_;
    std::vector<Block> blocks_;
    std::vector<std::uint32_t> running_;  ///< channels that a member still works on
    std::vector<Time> end_;
    std::vector<std::vector<float>> buffers_;
    std::vector<std::vector<float>> results_;
    Bytes footprint_;
};

InSwitchAllReduce::InSwitchAllReduce(
    const CollectiveEnvironment& environment,
    const CollectiveSpec& spec,
    MemberListener& listener) :
    fabric_(environment.fabric),
    scheduler_(environment.fabric.scheduler()),
    ports_(environment.ports),
    spec_(spec),
    listener_(listener),
    group_(environment.fabric.create_group(spec.ranks, spec.element)),
    client_(environment.fabric.add_client(*this)),
    n_(static_cast<std::uint32_t>(spec.ranks.size())),
    unit_(static_cast<std::uint32_t>(environment.params.transfer_unit.count())),
    window_(static_cast<std::uint32_t>(environment.params.outstanding_loads.count())),
    depth_(environment.params.steps),
    rate_(environment.params.in_switch_block_rate),
    functional_(environment.functional),
    registered_(spec.choice.registered),
    running_(spec.ranks.size(), 0),
    end_(spec.ranks.size()) {
    // A barrier is a store to a multicast counter and a poll that the switch combines.
    Time way;
    for (const auto& uplinks : group_->uplinks)
        way = std::max(
            way, uplinks.front()->latency() * 2 + group_->switches.front()->params().latency);
    sync_ = (environment.params.in_switch_sync + way).count();
    const std::uint32_t channels = spec.choice.channels;
    // NCCL enqueue.cc:2258-2275: the chunk shrinks until there is work for every head and channel.
    const std::uint64_t largest = environment.params.in_switch_chunk.count();
    const std::uint64_t ways = std::uint64_t{channels} * n_;
    chunk_ = largest;
    const std::uint64_t bytes = spec.bytes.count();
    if (bytes < 64 * ways * largest)
        chunk_ = largest / 2;
    if (bytes < 8 * ways * largest / 2)
        chunk_ = largest / 4;
    if (bytes < 2 * ways * largest / 4)
        chunk_ = largest / 8;
    chunk_ = std::max(chunk_ / kGrain * kGrain, kGrain);
    if (registered_) {
        // The user's own buffers are the multicast buffers: nothing is copied, and one barrier each
        // end will do.
        const std::uint64_t part = part_of_channel(bytes, channels, 0, kGrain).bytes;
        chunk_ = std::max(kGrain, (part + n_ * kGrain - 1) / (n_ * kGrain) * kGrain);
    }
    // Large chunks travel in larger units, as long as a chunk has several.
    for (int i = 0; i < 2 && std::uint64_t{unit_} * 16 <= chunk_; ++i)
        unit_ *= 2;
    for (std::uint32_t c = 0; c < channels; ++c) {
        Channel channel;
        channel.part = part_of_channel(bytes, channels, c, kGrain);
        channel.loops = (channel.part.bytes + n_ * chunk_ - 1) / (n_ * chunk_);
        channel.scattered.assign(depth_, 0);
        channel.scattered_time.assign(depth_, 0);
        channel.gathered.assign(depth_, 0);
        channels_.push_back(channel);
    }
    blocks_.resize(std::size_t{n_} * channels);
    for (Block& b : blocks_) {
        b.arrived.assign(depth_, 0);
        b.arrived_time.assign(depth_, 0);
    }
    if (functional_) {
        buffers_.resize(n_);
        results_.resize(n_);
    }
    footprint_ = Bytes(registered_ ? 0 : std::min(2 * bytes, 2 * depth_ * chunk_ * ways));
}

InSwitchAllReduce::~InSwitchAllReduce() {
    fabric_.remove_client(client_);
    fabric_.remove_group(*group_);
}

Part InSwitchAllReduce::piece(
    const Channel& channel, std::uint64_t loop, std::uint32_t head) const {
    const std::uint64_t base = loop * n_ * chunk_;
    // The last loop shares what is left evenly.
    const std::uint64_t left = channel.part.bytes - base;
    const std::uint64_t even = (left + n_ * kGrain - 1) / (n_ * kGrain) * kGrain;
    const std::uint64_t size = std::min(chunk_, even);
    const std::uint64_t begin = std::min(left, head * size);
    return {channel.part.begin + base + begin, std::min(size, left - begin)};
}

std::uint64_t InSwitchAllReduce::loop_bytes(const Channel& channel, std::uint64_t loop) const {
    return std::min<std::uint64_t>(n_ * chunk_, channel.part.bytes - loop * n_ * chunk_);
}

std::uint64_t InSwitchAllReduce::pace(std::uint64_t bytes) const {
    return serialization_time(Bytes(bytes), rate_).count();
}

std::uint32_t InSwitchAllReduce::position_of(std::uint32_t rank) const {
    const auto at = std::lower_bound(spec_.ranks.begin(), spec_.ranks.end(), rank);
    return static_cast<std::uint32_t>(at - spec_.ranks.begin());
}

void InSwitchAllReduce::join(std::uint32_t position, Time start) {
    end_[position] = start;
    if (functional_)
        results_[position].resize(buffers_[position].size());
    for (std::uint32_t c = 0; c < channels_.size(); ++c)
        if (channels_[c].loops > 0)
            ++running_[position];
    if (running_[position] == 0)
        listener_.on_member_done(position, start);
    for (std::uint32_t c = 0; c < channels_.size(); ++c) {
        Block& b = block(position, c);
        b.joined = true;
        b.scatter_free = b.reduce_free = b.gather_free = start.count();
        if (channels_[c].loops > 0) {
            try_scatter(position, c);
            try_reduce(position, c);
        }
    }
}

void InSwitchAllReduce::post(
    Stage stage, std::uint32_t position, std::uint32_t channel, std::uint64_t due) {
    const std::uint64_t tag =
        static_cast<std::uint64_t>(stage) << 60U | std::uint64_t{channel} << 32U | position;
    scheduler_.at(Time(std::max(due, scheduler_.now().count())), *this, tag);
}

void InSwitchAllReduce::on_event(std::uint64_t tag) {
    const auto stage = static_cast<Stage>(tag >> 60U);
    const auto channel = static_cast<std::uint32_t>(tag >> 32U) & 0xFFFFU;
    const auto position = static_cast<std::uint32_t>(tag);
    switch (stage) {
    case Stage::kScatter:
        end_scatter(position, channel);
        break;
    case Stage::kReduce:
        request(position, channel);
        break;
    case Stage::kGather:
        end_gather(position, channel);
        break;
    }
}

void InSwitchAllReduce::try_scatter(std::uint32_t position, std::uint32_t c) {
    Block& b = block(position, c);
    const Channel& channel = channels_[c];
    if (!b.joined || b.scattering || b.scattered == channel.loops ||
        b.scattered - channel.finished >= depth_)
        return;  // peers store into the slot: it is free when every rank has gathered it
    b.scattering = true;
    const std::uint64_t bytes = registered_ ? 0 : loop_bytes(channel, b.scattered);
    const std::uint64_t now = scheduler_.now().count();
    const std::uint64_t served = ports_[spec_.ranks[position]]->access(bytes, bytes).count();
    b.scatter_free = std::max(std::max(now, b.scatter_free) + pace(bytes), served);
    post(Stage::kScatter, position, c, b.scatter_free);
}

void InSwitchAllReduce::end_scatter(std::uint32_t position, std::uint32_t c) {
    Block& b = block(position, c);
    Channel& channel = channels_[c];
    const std::size_t slot = b.scattered % depth_;
    ++b.scattered;
    b.scattering = false;
    channel.scattered_time[slot] = scheduler_.now().count();
    if (++channel.scattered[slot] == n_)
        for (std::uint32_t head = 0; head < n_; ++head)
            try_reduce(head, c);
    try_scatter(position, c);
}

void InSwitchAllReduce::try_reduce(std::uint32_t head, std::uint32_t c) {
    Block& b = block(head, c);
    const Channel& channel = channels_[c];
    if (!b.joined || b.reducing || b.reduced == channel.loops)
        return;
    const std::size_t slot = b.reduced % depth_;
    // A slot comes round again only after every rank has gathered it, so the count belongs to this
    // loop.
    if (channel.scattered[slot] < n_)
        return;
    b.reducing = true;
    b.requested = 0;
    b.answered = 0;
    post(Stage::kReduce, head, c, std::max(b.reduce_free, channel.scattered_time[slot] + sync_));
}

void InSwitchAllReduce::request(std::uint32_t head, std::uint32_t c) {
    Block& b = block(head, c);
    const Part part = piece(channels_[c], b.reduced, head);
    const std::uint64_t now = scheduler_.now().count();
    if (part.bytes == 0) {
        ++b.reduced;
        b.reducing = false;
        try_reduce(head, c);
        return;
    }
    while (b.requested < part.bytes &&
           (b.requested == b.answered || b.requested - b.answered < window_)) {
        const auto bytes =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(unit_, part.bytes - b.requested));
        const Tag tag{c, static_cast<std::uint32_t>(b.reduced % depth_), head, b.requested / unit_};
        fabric_.send(
            *group_,
            head,
            {.kind = PacketKind::kReduceRequest,
             .payload = bytes,
             .tag = tag.pack(),
             .client = client_,
             .slot = (part.begin + b.requested) / unit_});
        b.requested += bytes;
    }
    b.reduce_free = std::max(b.reduce_free, now);
}

void InSwitchAllReduce::on_packet(const Packet& packet, std::uint32_t rank, Time visible) {
    if (packet.kind == PacketKind::kReduceResult)
        on_sum(packet, position_of(rank), visible);
    else
        on_store(packet, position_of(rank), visible);
}

void InSwitchAllReduce::on_sum(const Packet& packet, std::uint32_t head, Time visible) {
    const Tag tag = Tag::unpack(packet.tag);
    Block& b = block(head, tag.channel);
    // The sum is in registers; the warps store it to everybody at their pace.
    b.reduce_free = std::max(b.reduce_free + pace(packet.payload), visible.count());
    const Part part = piece(channels_[tag.channel], b.reduced, head);
    b.answered += packet.payload;
    fabric_.send(
        *group_,
        head,
        {.kind = PacketKind::kMulticastWrite,
         .payload = packet.payload,
         .tag = packet.tag,
         .client = client_,
         .slot = (part.begin + std::uint64_t{tag.unit} * unit_) / unit_,
         .values = packet.values});
    if (b.answered < part.bytes) {
        if (b.requested < part.bytes)
            request(head, tag.channel);
        return;
    }
    ++b.reduced;
    b.reducing = false;
    try_reduce(head, tag.channel);
}

std::uint64_t InSwitchAllReduce::first_element(const Tag& tag, std::uint64_t loop) const {
    const Part part = piece(channels_[tag.channel], loop, tag.head);
    return (part.begin + std::uint64_t{tag.unit} * unit_) / spec_.element_bytes;
}

std::uint32_t InSwitchAllReduce::supply(const Packet& packet, std::uint32_t rank) {
    if (!functional_)
        return 0;
    const Tag tag = Tag::unpack(packet.tag);
    const std::uint64_t first = first_element(tag, block(tag.head, tag.channel).reduced);
    const std::vector<float>& own = buffers_[position_of(rank)];
    const auto begin = own.begin() + static_cast<std::ptrdiff_t>(first);
    return fabric_.values().put(
        {begin, begin + static_cast<std::ptrdiff_t>(packet.payload / spec_.element_bytes)});
}

void InSwitchAllReduce::on_store(const Packet& packet, std::uint32_t position, Time visible) {
    const Tag tag = Tag::unpack(packet.tag);
    Block& b = block(position, tag.channel);
    if (packet.values != 0) {
        // The loop that this slot of the pipeline holds is the one that this rank will gather next
        // in it.
        std::uint64_t loop = b.gathered + (tag.slot + depth_ - b.gathered % depth_) % depth_;
        const std::vector<float>& sum = fabric_.values().get(packet.values);
        std::copy(
            sum.begin(),
            sum.end(),
            results_[position].begin() + static_cast<std::ptrdiff_t>(first_element(tag, loop)));
        fabric_.values().drop(packet.values);
    }
    b.arrived[tag.slot] += packet.payload;
    b.arrived_time[tag.slot] = std::max(b.arrived_time[tag.slot], visible.count());
    try_gather(position, tag.channel);
}

void InSwitchAllReduce::try_gather(std::uint32_t position, std::uint32_t c) {
    Block& b = block(position, c);
    const Channel& channel = channels_[c];
    if (b.gathering || b.gathered == channel.loops)
        return;
    const std::size_t slot = b.gathered % depth_;
    const std::uint64_t bytes = loop_bytes(channel, b.gathered);
    SWITCHFOLD_CHECK(b.arrived[slot] <= bytes, "more sums than a loop holds");
    if (b.arrived[slot] < bytes)
        return;
    b.gathering = true;
    const std::uint64_t copied = registered_ ? 0 : bytes;
    const std::uint64_t served = ports_[spec_.ranks[position]]->access(copied, copied).count();
    const std::uint64_t start = std::max(b.gather_free, b.arrived_time[slot] + sync_);
    b.gather_free = std::max(start + pace(copied), served);
    post(Stage::kGather, position, c, b.gather_free);
}

void InSwitchAllReduce::end_gather(std::uint32_t position, std::uint32_t c) {
    Block& b = block(position, c);
    Channel& channel = channels_[c];
    const std::size_t slot = b.gathered % depth_;
    b.arrived[slot] = 0;
    b.arrived_time[slot] = 0;
    b.gathering = false;
    ++b.gathered;
    const bool all = ++channel.gathered[slot] == n_;
    if (all) {
        channel.gathered[slot] = 0;
        channel.scattered[slot] = 0;
        ++channel.finished;
    }
    if (b.gathered == channel.loops) {
        end_[position] = std::max(end_[position], scheduler_.now());
        if (--running_[position] == 0) {
            if (functional_)
                buffers_[position] = results_[position];
            listener_.on_member_done(position, end_[position]);
        }
    }
    if (all)
        for (std::uint32_t r = 0; r < n_; ++r)
            try_scatter(r, c);
    if (b.gathered < channel.loops)
        try_gather(position, c);
}

std::vector<std::string> InSwitchAllReduce::blocked(std::size_t limit) const {
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

std::unique_ptr<RunningCollective> make_in_switch_all_reduce(
    const CollectiveEnvironment& environment,
    const CollectiveSpec& spec,
    MemberListener& listener) {
    return std::make_unique<InSwitchAllReduce>(environment, spec, listener);
}

}  // namespace switchfold
