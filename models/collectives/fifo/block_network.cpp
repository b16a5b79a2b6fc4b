// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/fifo/block_network.h"

#include "core/error.h"
#include "core/prefetch.h"
#include "models/collectives/choice/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

namespace switchfold {

namespace {

constexpr std::uint32_t kSmallestSliceShare = 32;  // prims_simple.h: at least sliceSize / 32
/// Large pieces travel in larger units, up to this multiple of the configured unit.
constexpr std::uint64_t kLargestUnit = 16;
/// Threads hand on lines by rounds: those of LL's 512 threads, of 8 B each. What they hand on
/// together travels together, whatever the model's packets are.
constexpr std::uint64_t kLineRound = 4096;
constexpr std::uint64_t kSmallestLineUnit = 1024;
constexpr std::uint64_t kLineUnitsInChunk = 8;
constexpr std::uint32_t kLlBytesOfThread = 8;  // data of the 16-byte line that a thread stores

std::uint32_t at_least_one(std::uint64_t value) {
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, value));
}

/// Peers to which a thread block stores at once. An exchange's own share stays in the rank's
/// memory, so it takes nothing from them.
std::uint32_t stores_at_once(const CollectiveSpec& spec) {
    if (spec.kind == CollectiveKind::kSendReceive)
        return 1;
    return at_least_one(peers_at_once(spec.choice, spec.size() - 1));
}

/// Bytes of an element as the kernel sees it: kinds that add nothing move bytes.
std::uint32_t stored_element(const CollectiveSpec& spec) {
    switch (spec.kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kReduce:
        return spec.element_bytes;
    default:
        return 1;
    }
}

}  // namespace

std::uint64_t BlockNetwork::buffer_bytes(const CollectiveParams& params, Protocol protocol) {
    switch (protocol) {
    case Protocol::kLl:
        return params.ll_buffer.count();
    case Protocol::kLl128:
        return params.ll128_buffer.count();
    default:
        return params.simple_buffer.count();
    }
}

namespace {

/// Rate of a block's warps without what their loads and stores occupy the SM: the rest of the time
/// of a copy, which loads and stores each byte once, is latency.
Bandwidth warps_rate(const ProtocolParams& params) {
    if (params.load_store_rate == Bandwidth())
        return params.block_rate;
    const auto rate = [](Bandwidth b) { return static_cast<double>(b.count()); };
    const double latency = 1 / rate(params.block_rate) - 2 / rate(params.load_store_rate);
    return Bandwidth(static_cast<std::uint64_t>(1 / latency));
}

/// See Transport::stream_time.
std::uint64_t stream_time_of(Bandwidth rate) {
    if (rate == Bandwidth())
        return 0;
    constexpr Bytes kMany{1U << kStreamTimeShift};
    return serialization_time(kMany, rate).count();
}

}  // namespace

std::uint64_t BlockNetwork::slice_bytes(const CollectiveParams& params, ChunkShape cut) {
    const std::uint32_t slots = params.steps / cut.steps_per_slice;
    return buffer_bytes(params, Protocol::kSimple) / slots / kGrain * kGrain;
}

std::uint64_t
BlockNetwork::max_chunk(const CollectiveParams& params, Protocol protocol, ChunkShape shape) {
    const std::uint64_t buffer = buffer_bytes(params, protocol);
    if (protocol == Protocol::kSimple) {
        const ChunkShape cut = shape.in_fifo_of(params.steps);
        return slice_bytes(params, cut) * cut.slices_per_chunk();
    }
    const auto [numerator, denominator] = wire_ratio(protocol);
    return std::max<std::uint64_t>(
        kGrain, buffer / params.steps * denominator / numerator / kGrain * kGrain);
}

BlockNetwork::BlockNetwork(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, Protocol protocol,
    ChunkShape shape, std::uint64_t chunk, std::uint32_t bundle, MemberListener& listener) :
    params_(environment.params),
    ports_(environment.ports),
    ranks_(spec.ranks),
    protocol_(protocol),
    bundle_(bundle),
    listener_(listener),
    members_(spec.ranks.size()) {
    const ProtocolParams& p = params_of(params_, protocol);
    context_.fabric = &environment.fabric;
    context_.client = environment.fabric.add_client(*this);
    context_.element = spec.element;
    context_.element_bytes = spec.element_bytes;
    Transport& t = context_.transport;
    const auto [numerator, denominator] = wire_ratio(protocol);
    t.wire_shift = static_cast<std::uint32_t>(std::countr_zero(numerator));
    t.wire_denominator = denominator;
    t.lines = protocol != Protocol::kSimple;
    // A block of an exchange serves its peers concurrently, with separate data in each direction.
    const bool exchanges = channels_for_a_peer(spec.choice) != 0;
    // Its warps that send do not wait for those that receive: each end of a slice is one side of
    // what a ring's block does, which receives, sends, and has a barrier for both. A round of LL
    // takes either side as long as a ring, whose block loads for both at once.
    const std::uint32_t sides = exchanges ? 2 : 1;
    t.slice_overhead = p.slice_overhead.count() / sides;
    const double share =
        exchanges ? share_of_warps(spec.choice.of<NcclConfig>().peers_of_a_block) : 1;
    t.block_rate =
        Bandwidth(static_cast<std::uint64_t>(static_cast<double>(warps_rate(p).count()) * share)) *
        bundle;
    t.stream_time = stream_time_of(p.load_store_rate * bundle);
    if (spec.element_bytes == 1)
        t.sum_rate = params_.byte_sum_rate * bundle;
    t.element_rate = p.byte_stores * bundle;
    t.stored_element = stored_element(spec);
    t.hidden_stores = p.hidden_stores.count();
    t.gpu_share = p.gpu_rate * bundle / std::max(1U, spec.choice.channels);
    const double missing = missing_threads(params_, spec.choice);
    if (protocol == Protocol::kLl)
        t.round =
            std::max(
                static_cast<std::uint32_t>(kGrain),
                static_cast<std::uint32_t>(p.threads * kLlBytesOfThread * share * (1 - missing))) *
            bundle;
    t.host_store_rate = params_.host_store_rate * bundle / stores_at_once(spec);
    t.unit = unit_for(chunk, shape);
    // At least two units; otherwise a block would wait for each to leave before creating the next.
    const auto window = [&](Bytes bytes) {
        return std::max(static_cast<std::uint32_t>(bytes.count()) * bundle, 2 * t.unit);
    };
    t.load_window = window(params_.outstanding_loads);
    t.store_units = window(params_.outstanding_stores) / t.unit;
    if (t.lines) {
        // A transfer unit is handed over on arrival. A chunk takes one of the FIFO's steps,
        // whatever its size.
        t.slice = t.unit;
        t.slots = at_least_one(params_.steps * (chunk * bundle / t.unit + 1));
    } else {
        const ChunkShape cut = shape.in_fifo_of(params_.steps);
        t.slots = params_.steps / cut.steps_per_slice;
        t.slice = static_cast<std::uint32_t>(slice_bytes(params_, cut) * bundle);
        t.slices_in_step = cut.slices_per_chunk();
        t.smallest_slice = std::max(t.slice / kSmallestSliceShare, t.unit);
    }
    t.slot_mask = std::bit_ceil(t.slots) - 1;
    t.network_post = p.network_post.count();
    auto hop = static_cast<std::uint64_t>(
        static_cast<double>(p.hop_overhead.count()) -
        static_cast<double>(p.threads_hop.count()) * missing);
    if (protocol == Protocol::kSimple)
        hop /= sides;
    t.delays[0].hop = hop + (t.slices_in_step > 1 ? p.slices_hop.count() : 0);
    t.delays[1].hop = hop + p.network_overhead.count();
    // A free slot becomes a receive that the sender must be told of: software on both ends again.
    t.delays[1].credit = p.network_overhead.count();
}

std::uint32_t BlockNetwork::unit_for(std::uint64_t chunk, ChunkShape shape) const {
    const std::uint32_t most = shape.largest_unit;
    const std::uint64_t smallest = std::min<std::uint64_t>(
        most, protocol_ == Protocol::kSimple ? params_.transfer_unit.count() : kLineRound);
    if (bundle_ > 1)
        return static_cast<std::uint32_t>(smallest);  // it holds a chunk of every channel
    std::uint64_t unit = smallest;
    // A line carries its own flag and is processed on arrival: small chunks use small units,
    // because a hop would otherwise store and forward them.
    while (protocol_ != Protocol::kSimple && unit > kSmallestLineUnit &&
           unit * kLineUnitsInChunk > chunk)
        unit /= 2;
    // Two units must fit a link's input buffer; otherwise credits would throttle them unlike a real
    // train of packets.
    const std::uint64_t buffer = context_.fabric->smallest_buffer().count();
    while (unit < smallest * kLargestUnit && unit * 2 * shape.units_in_chunk <= chunk &&
           unit * 4 <= buffer && unit * 2 <= most)
        unit *= 2;
    return static_cast<std::uint32_t>(unit);
}

std::uint32_t BlockNetwork::add_fifo(std::uint32_t from, std::uint32_t to, std::uint32_t number) {
    const auto index = static_cast<std::uint32_t>(fifos_.size());
    auto fifo = std::make_unique<Fifo>(index, context_.fabric->connect(ranks_[from], ranks_[to]));
    // Each connection starts on another stripe, as its buffer's address would.
    fifo->units = number * 7;
    if (fifo->networked) {
        fifo->flow = &proxy_of(from).add_flow(*fifo);
        fifo->inbound = &proxy_of(to);
    }
    fifos_.push_back(std::move(fifo));
    receivers_.push_back(nullptr);
    return index;
}

NetworkProxy& BlockNetwork::proxy_of(std::uint32_t member) {
    auto& proxy = members_[member].proxy;
    if (!proxy)
        proxy = std::make_unique<NetworkProxy>(
            context_, *ports_[ranks_[member]], params_.proxy_overhead * bundle_,
            params_.proxy_copy_rate,
            protocol_ == Protocol::kLl ? params_.proxy_scan_rate : Bandwidth());
    return *proxy;
}

void BlockNetwork::add_channel(std::vector<BlockPlan> plans, std::uint32_t first) {
    std::unordered_map<std::uint64_t, std::uint32_t> index;
    // Of one pair a folded exchange has a FIFO for each of the pairs that it stands for.
    const auto key = [](std::uint32_t from, std::uint32_t to, std::uint32_t round) {
        return std::uint64_t{from} << 42U | std::uint64_t{to} << 20U | round;
    };
    for (const BlockPlan& plan : plans)
        for (const std::uint32_t from : plan.receive_from) {
            const std::uint32_t fifo = add_fifo(stand_of(from), stand_of(plan.rank), first++);
            index.emplace(key(from, plan.rank, plan.round), fifo);
            // A block loads from a single peer; if it combines several, their data are pushed to
            // it.
            fifos_[fifo]->read = protocol_ == Protocol::kSimple && params_.read_over_link &&
                                 !fifos_[fifo]->networked && plan.receive_from.size() == 1 &&
                                 !plan.staged;
        }
    for (BlockPlan& plan : plans) {
        while (rounds_.size() <= plan.round)
            rounds_.push_back(
                std::make_unique<Round>(*this, static_cast<std::uint32_t>(rounds_.size())));
        auto block = std::make_unique<ThreadBlock>(
            context_, *ports_[ranks_[stand_of(plan.rank)]], *rounds_[plan.round], sm_of(plan),
            plan);
        for (const std::uint32_t from : plan.receive_from) {
            const std::uint32_t fifo = index.at(key(from, plan.rank, plan.round));
            receivers_[fifo] = fifos_[fifo]->receiver = block.get();
            block->add_receive(*fifos_[fifo]);
        }
        for (const std::uint32_t to : plan.send_to) {
            const std::uint32_t fifo = index.at(key(plan.rank, to, plan.round));
            fifos_[fifo]->sender = block.get();
            block->add_send(*fifos_[fifo]);
        }
        if (of_channel_.size() <= plan.channel)
            of_channel_.resize(plan.channel + 1U);
        of_channel_[plan.channel].push_back(static_cast<std::uint32_t>(blocks_.size()));
        auto& rounds = members_[stand_of(plan.rank)].blocks;
        rounds.resize(std::max<std::size_t>(rounds.size(), plan.round + 1));
        rounds[plan.round].push_back(static_cast<std::uint32_t>(blocks_.size()));
        blocks_.push_back(std::move(block));
    }
}

BlockSm& BlockNetwork::sm_of(const BlockPlan& plan) {
    if (plan.sm == kOwnSm)
        return sms_.emplace_back();
    const std::uint64_t key = std::uint64_t{stand_of(plan.rank)} << 32U | plan.sm;
    const auto [place, added] = shared_sms_.try_emplace(key, nullptr);
    if (added)
        place->second = &sms_.emplace_back();
    return *place->second;
}

void BlockNetwork::use_buffers(
    std::vector<std::vector<float>>& buffers, std::vector<std::vector<float>>& results) {
    context_.buffers = &buffers;
    context_.results = &results;
}

void BlockNetwork::join(std::uint32_t position, Time start, Time last) {
    Member& member = members_[position];
    member.end = start;
    for (const auto& round : member.blocks) {
        member.running.push_back(static_cast<std::uint32_t>(round.size()));
        member.rounds += round.empty() ? 0 : 1;
    }
    if (member.rounds == 0)
        listener_.on_member_done(position, last);
    for (const auto& round : member.blocks)
        for (const std::uint32_t block : round)
            blocks_[block]->start(&round == &member.blocks.back() ? last : start);
}

std::optional<double> BlockNetwork::share_begun() const {
    if (blocks_.empty())
        return std::nullopt;
    return blocks_.front()->done() ? 1 : blocks_.front()->program().share_begun();
}

std::uint64_t BlockNetwork::skippable(std::uint32_t channel, std::uint64_t unit) const {
    std::uint64_t least = UINT64_MAX;
    for (const std::uint32_t block : of_channel_[channel])
        least = std::min(
            least, blocks_[block]->done()
                       ? 0
                       : blocks_[block]->program().skippable(unit, context_.transport));
    return least;
}

void BlockNetwork::skip(std::uint32_t channel, std::uint64_t turns) {
    for (const std::uint32_t block : of_channel_[channel])
        blocks_[block]->program().skip(turns);
}

void BlockNetwork::abandon() {
    abandoned_ = true;
    ValuePool& pool = context_.fabric->values();
    for (const auto& block : blocks_)
        block->abandon();
    for (const auto& fifo : fifos_) {
        if (fifo->networked)
            fifo->flow->drop_values();
        for (auto& slot : fifo->values)
            for (std::uint32_t& handle : slot)
                pool.drop(std::exchange(handle, 0));
    }
}

void BlockNetwork::on_packet(const Packet& packet, std::uint32_t /*rank*/, Time visible) {
    if (abandoned_) {
        context_.fabric->values().drop(packet.values);
        return;
    }
    const PacketTag tag = PacketTag::unpack(packet.tag);
    prefetch(receivers_[tag.fifo], ThreadBlock::kHotBytes);
    Fifo& fifo = *fifos_[tag.fifo];
    if (packet.kind == PacketKind::kReadResponse) {
        fifo.receiver->on_response(packet.payload, tag.unit, packet.values, visible);
        return;
    }
    Fifo::Slice& slice = fifo.slice(tag.slot);
    slice.arrived += context_.transport.data(packet.payload);
    slice.time = std::max(slice.time, visible.count());
    if (packet.values != 0)
        fifo.keep(tag.slot, tag.unit, packet.values);
    SWITCHFOLD_CHECK(slice.arrived <= slice.expected, "more data than a slice holds");
    if (!context_.transport.lines && !fifo.networked) {
        if (slice.arrived == slice.expected)
            fifo.sender->on_acknowledged();
        return;
    }
    bool wake = false;
    while (fifo.ready != fifo.posted) {
        Fifo::Slice& next = fifo.slice(fifo.ready);
        if (next.arrived != next.expected)
            break;
        // The GPU sees lines by itself; slices are reported by its proxy.
        if (fifo.networked && !context_.transport.lines)
            next.time = fifo.inbound->serve(next.time, context_.transport.wire(next.expected));
        ++fifo.ready;
        wake = true;
    }
    if (wake)
        fifo.receiver->wake();
}

void BlockNetwork::prepare(const Packet& packet) const {
    const std::uint32_t fifo = PacketTag::unpack(packet.tag).fifo;
    prefetch(fifos_[fifo].get(), Fifo::kHotBytes);
    prefetch(receivers_[fifo], ThreadBlock::kHotBytes);
}

std::uint32_t BlockNetwork::supply(const Packet& packet, std::uint32_t /*rank*/) {
    if (context_.buffers == nullptr || abandoned_)
        return 0;
    const PacketTag tag = PacketTag::unpack(packet.tag);
    return std::exchange(fifos_[tag.fifo]->values.at(tag.slot).at(tag.unit), 0);
}

void BlockNetwork::on_departure(std::uint64_t tag, Time departure) {
    Fifo& fifo = *fifos_[PacketTag::unpack(tag).fifo];
    // Data leave the sender or its network interface; a read request leaves the receiver.
    if (fifo.networked)
        fifo.flow->on_departure(departure);
    else if (!abandoned_)
        (fifo.read ? fifo.receiver : fifo.sender)->on_departure(departure);
}

void BlockNetwork::on_block_done(std::uint32_t rank, std::uint32_t round, Time end) {
    const std::uint32_t position = stand_of(rank);
    Member& member = members_[position];
    member.end = std::max(member.end, end);
    if (--member.running[round] != 0)
        return;
    if (--member.rounds == 0)
        listener_.on_member_done(position, member.end);
    else
        listener_.on_round_done(
            position, member.rounds, static_cast<std::uint32_t>(rounds_.size()), end);
}

std::vector<std::string> BlockNetwork::blocked(std::size_t limit) const {
    std::vector<std::string> lines;
    for (std::uint32_t position = 0; position < members_.size(); ++position)
        for (const auto& round : members_[position].blocks)
            for (const std::uint32_t block : round)
                if (!blocks_[block]->done() && lines.size() < limit)
                    lines.push_back(fmt::format(
                        "rank {} block {} waits for {}", ranks_[position], block,
                        blocks_[block]->waiting_for()));
    return lines;
}

}  // namespace switchfold
