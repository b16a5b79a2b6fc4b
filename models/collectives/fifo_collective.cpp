// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/running_collective.h"
#include "models/collectives/thread_block.h"
#include "sim/core/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

namespace {

/// Chunks of NCCL's Simple protocol: 4 of the FIFO's 8 steps a chunk, 2 a slice
/// (collectives.h:19-20).
constexpr std::uint64_t kStepsPerChunk = 4;
constexpr std::uint64_t kStepsPerSlice = 2;
constexpr std::uint64_t kGrain = 16;  // bytes; loads and stores are 16 bytes wide
/// Large pieces travel in larger units: as many as leave the pipeline this many units deep, up to
/// this many times the configured unit.
constexpr std::uint64_t kUnitsInPiece = 32;
constexpr std::uint64_t kLargestUnit = 16;
constexpr std::uint64_t kSmallestLineUnit = 1024;
constexpr std::uint64_t kLineUnitsInChunk = 8;

class FifoCollective final : public RunningCollective, private PacketClient, private BlockListener {
public:
    FifoCollective(
        const CollectiveEnvironment& environment,
        const CollectiveSpec& spec,
        MemberListener& listener);
    ~FifoCollective() override { context_.fabric->remove_client(context_.client); }

    void join(std::uint32_t position, Time start) override;
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override;
    [[nodiscard]] Bytes footprint() const override { return footprint_; }
    [[nodiscard]] std::vector<std::vector<float>>& buffers() override { return buffers_; }

private:
    struct Member {
        std::vector<std::uint32_t> blocks;
        std::uint32_t running = 0;
        Time end;
    };
    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override;
    std::uint32_t supply(const Packet& packet, std::uint32_t rank) override;
    void on_departure(std::uint64_t tag, Time departure) override;
    void on_block_done(std::uint32_t position, Time end) override;

    [[nodiscard]] std::vector<BlockPlan> plan(std::uint32_t channel) const;
    void build(std::vector<BlockPlan> plans, const CollectiveEnvironment& environment);
    [[nodiscard]] std::uint64_t max_chunk() const;
    [[nodiscard]] std::uint32_t unit_for(std::uint64_t smallest) const;
    [[nodiscard]] std::uint32_t data_of(std::uint32_t wire) const;

    CollectiveSpec spec_;
    MemberListener& listener_;
    BlockContext context_;
    std::uint64_t buffer_bytes_ = 0;  ///< of one connection's FIFO
    std::uint32_t steps_;
    std::vector<std::vector<float>> buffers_;
    std::vector<std::unique_ptr<ThreadBlock>> blocks_;
    std::vector<std::unique_ptr<Fifo>> fifos_;
    std::vector<Member> members_;
    Bytes footprint_;
};

FifoCollective::FifoCollective(
    const CollectiveEnvironment& environment,
    const CollectiveSpec& spec,
    MemberListener& listener) :
    spec_(spec),
    listener_(listener),
    steps_(environment.params.steps),
    members_(spec.ranks.size()) {
    const CollectiveParams& params = environment.params;
    const Protocol protocol = spec.choice.protocol;
    const ProtocolParams& p = params_of(params, protocol);
    context_.fabric = &environment.fabric;
    context_.client = environment.fabric.add_client(*this);
    context_.element = spec.element;
    context_.element_bytes = spec.element_bytes;
    Transport& t = context_.transport;
    std::tie(t.wire_numerator, t.wire_denominator) = wire_ratio(protocol);
    t.read = protocol == Protocol::kSimple && params.read_over_link;
    t.hop_overhead = p.hop_overhead.count();
    t.slice_overhead = p.slice_overhead.count();
    t.block_rate = p.block_rate;
    buffer_bytes_ = protocol == Protocol::kSimple ? params.simple_buffer.count()
                    : protocol == Protocol::kLl   ? params.ll_buffer.count()
                                                  : params.ll128_buffer.count();
    t.unit = unit_for(params.transfer_unit.count());
    // At least two units, or a block would wait for each to leave before it makes the next.
    t.window =
        std::max(static_cast<std::uint32_t>(params.outstanding_per_block.count()), 2 * t.unit);
    if (protocol == Protocol::kSimple) {
        t.slots = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, steps_ / kStepsPerSlice));
        t.slice = static_cast<std::uint32_t>(buffer_bytes_ / t.slots);
    } else {
        // Every line carries its own flag, so a transfer unit is handed over as soon as it is
        // there.
        const std::uint64_t data = buffer_bytes_ * t.wire_denominator / t.wire_numerator;
        t.slice = t.unit;
        t.slots = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, data / t.unit));
    }
    if (environment.functional) {
        buffers_.resize(spec.ranks.size());
        context_.buffers = &buffers_;
    }
    for (std::uint32_t channel = 0; channel < spec.choice.channels; ++channel)
        build(plan(channel), environment);
    const std::uint64_t touched = std::min(
        buffer_bytes_ * spec.choice.channels, 2 * t.wire(1024) * spec.bytes.count() / 1024);
    footprint_ = Bytes(touched);
}

std::uint32_t FifoCollective::unit_for(std::uint64_t smallest) const {
    const std::uint64_t per_channel = spec_.bytes.count() / spec_.choice.channels;
    const std::uint64_t chunk =
        std::min<std::uint64_t>(max_chunk(), per_channel / spec_.ranks.size());
    std::uint64_t unit = smallest;
    // A line carries its own flag and is worked on as it comes in: small chunks travel in small
    // units, or a hop would seem to store and forward them.
    while (spec_.choice.protocol != Protocol::kSimple && unit > kSmallestLineUnit &&
           unit * kLineUnitsInChunk > chunk)
        unit /= 2;
    // Two must fit a link's input buffer, or credits would hold up what a real train of packets
    // would not feel.
    const std::uint64_t buffer = context_.fabric->smallest_buffer().count();
    while (unit < smallest * kLargestUnit && unit * 2 * kUnitsInPiece <= chunk &&
           unit * 4 <= buffer)
        unit *= 2;
    return static_cast<std::uint32_t>(unit);
}

std::uint64_t FifoCollective::max_chunk() const {
    if (spec_.choice.protocol == Protocol::kSimple)
        return buffer_bytes_ * std::min<std::uint64_t>(kStepsPerChunk, steps_) / steps_;
    const Transport& t = context_.transport;
    return std::max<std::uint64_t>(
        kGrain, buffer_bytes_ / steps_ * t.wire_denominator / t.wire_numerator / kGrain * kGrain);
}

std::vector<BlockPlan> FifoCollective::plan(std::uint32_t channel) const {
    const std::uint32_t channels = spec_.choice.channels;
    const auto n = static_cast<std::uint32_t>(spec_.ranks.size());
    const std::vector<std::uint32_t>& order = spec_.rings[channel % spec_.rings.size()];
    const std::uint64_t bytes = spec_.bytes.count();
    const Part whole = part_of_channel(bytes, channels, channel, kGrain);
    const std::uint64_t stride = bytes / n;
    const Part share = part_of_channel(stride, channels, channel, kGrain);
    switch (spec_.kind) {
    case CollectiveKind::kReduceScatter:
        return plan_ring_reduce_scatter(order, channel, share, max_chunk(), stride);
    case CollectiveKind::kAllGather:
        return plan_ring_all_gather(order, channel, share, max_chunk(), stride);
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
        return plan_ring_broadcast(order, channel, whole, max_chunk());
    case CollectiveKind::kAllToAll:
        return plan_all_to_all(n, channel, share, stride, max_chunk());
    case CollectiveKind::kAllReduce:
        break;
    }
    if (spec_.choice.algorithm == Algorithm::kTree) {
        // Inside a node NCCL's tree is a chain along the ring.
        std::vector<std::uint32_t> parent(n, UINT32_MAX);
        for (std::uint32_t i = 1; i < n; ++i)
            parent[order[i]] = order[i - 1];
        return plan_tree_all_reduce(parent, channel, whole, max_chunk());
    }
    return plan_ring_all_reduce(order, channel, whole, max_chunk(), kGrain);
}

void FifoCollective::build(std::vector<BlockPlan> plans, const CollectiveEnvironment& environment) {
    // A FIFO joins the k-th block that sends from a to b with the k-th that receives there: one
    // each in all plans.
    std::unordered_map<std::uint64_t, std::uint32_t> index;
    const auto fifo_for = [&](std::uint32_t from, std::uint32_t to) {
        const std::uint64_t key = std::uint64_t{from} << 32U | to;
        const auto [at, fresh] = index.try_emplace(key, static_cast<std::uint32_t>(fifos_.size()));
        if (fresh) {
            auto fifo = std::make_unique<Fifo>();
            fifo->route = &context_.fabric->connect(spec_.ranks[from], spec_.ranks[to]);
            fifo->slots.resize(context_.transport.slots);
            // Start each connection on another stripe, as their buffers' addresses would.
            fifo->units = fifos_.size() * 7;
            fifos_.push_back(std::move(fifo));
        }
        return at->second;
    };
    BlockListener& self = *this;
    for (BlockPlan& plan : plans) {
        auto block = std::make_unique<ThreadBlock>(
            context_,
            *environment.ports[spec_.ranks[plan.rank]],
            self,
            plan.rank,
            std::move(plan.program));
        for (const std::uint32_t from : plan.receive_from) {
            const std::uint32_t fifo = fifo_for(from, plan.rank);
            fifos_[fifo]->receiver = block.get();
            block->add_receive({fifos_[fifo].get(), fifo});
        }
        for (const std::uint32_t to : plan.send_to) {
            const std::uint32_t fifo = fifo_for(plan.rank, to);
            fifos_[fifo]->sender = block.get();
            block->add_send({fifos_[fifo].get(), fifo});
        }
        members_[plan.rank].blocks.push_back(static_cast<std::uint32_t>(blocks_.size()));
        blocks_.push_back(std::move(block));
    }
}

void FifoCollective::join(std::uint32_t position, Time start) {
    Member& member = members_[position];
    member.running = static_cast<std::uint32_t>(member.blocks.size());
    member.end = start;
    if (member.blocks.empty())
        listener_.on_member_done(position, start);
    for (const std::uint32_t block : member.blocks)
        blocks_[block]->start(start);
}

std::uint32_t FifoCollective::data_of(std::uint32_t wire) const {
    const Transport& t = context_.transport;
    // wire() rounds down; the inverse must give the data bytes back.
    return static_cast<std::uint32_t>(
        (std::uint64_t{wire} * t.wire_denominator + t.wire_numerator - 1) / t.wire_numerator);
}

void FifoCollective::on_packet(const Packet& packet, std::uint32_t /*rank*/, Time visible) {
    const PacketTag tag = PacketTag::unpack(packet.tag);
    Fifo& fifo = *fifos_[tag.fifo];
    if (packet.kind == PacketKind::kReadResponse) {
        fifo.receiver->on_response(packet.payload, tag.unit, packet.values, visible);
        return;
    }
    Fifo::Slot& slot = fifo.slots[tag.slot];
    slot.arrived += data_of(packet.payload);
    slot.ready_time = std::max(slot.ready_time, visible.count());
    if (packet.values != 0) {
        if (slot.values.size() <= tag.unit)
            slot.values.resize(tag.unit + 1U, 0);
        slot.values[tag.unit] = packet.values;
    }
    SWITCHFOLD_CHECK(slot.arrived <= slot.expected, "more data than a slice holds");
    bool wake = false;
    while (fifo.ready < fifo.posted) {
        const Fifo::Slot& next = fifo.slot(fifo.ready);
        if (next.arrived != next.expected)
            break;
        ++fifo.ready;
        wake = true;
    }
    if (wake)
        fifo.receiver->wake();
}

std::uint32_t FifoCollective::supply(const Packet& packet, std::uint32_t /*rank*/) {
    if (context_.buffers == nullptr)
        return 0;
    const PacketTag tag = PacketTag::unpack(packet.tag);
    return std::exchange(fifos_[tag.fifo]->slots[tag.slot].values.at(tag.unit), 0);
}

void FifoCollective::on_departure(std::uint64_t tag, Time departure) {
    Fifo& fifo = *fifos_[PacketTag::unpack(tag).fifo];
    // Data leaves the sender; a read request leaves the receiver.
    ThreadBlock* block = context_.transport.read ? fifo.receiver : fifo.sender;
    block->on_departure(departure);
}

void FifoCollective::on_block_done(std::uint32_t position, Time end) {
    Member& member = members_[position];
    member.end = std::max(member.end, end);
    if (--member.running == 0)
        listener_.on_member_done(position, member.end);
}

std::vector<std::string> FifoCollective::blocked(std::size_t limit) const {
    std::vector<std::string> lines;
    for (std::uint32_t position = 0; position < members_.size(); ++position)
        for (const std::uint32_t block : members_[position].blocks)
            if (!blocks_[block]->done() && lines.size() < limit)
                lines.push_back(fmt::format(
                    "rank {} block {} waits for {}",
                    spec_.ranks[position],
                    block,
                    blocks_[block]->waiting_for()));
    return lines;
}

}  // namespace

std::unique_ptr<RunningCollective> make_fifo_collective(
    const CollectiveEnvironment& environment,
    const CollectiveSpec& spec,
    MemberListener& listener) {
    return std::make_unique<FifoCollective>(environment, spec, listener);
}

}  // namespace switchfold
