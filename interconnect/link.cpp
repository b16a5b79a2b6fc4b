// SPDX-License-Identifier: Apache-2.0
#include "interconnect/link.h"

#include "sim/core/error.h"

#include <algorithm>
#include <cmath>

namespace switchfold {

namespace {

std::uint64_t fixed_ps_per_byte(Bandwidth bandwidth) {
    // 1e12 ps/s with 32 fractional bits needs 72 bits.
    const auto scaled = static_cast<unsigned __int128>(1'000'000'000'000ULL) << 32U;
    return static_cast<std::uint64_t>((scaled + bandwidth.count() / 2) / bandwidth.count());
}

Bandwidth usable(const LinkParams& params, std::uint32_t lanes) {
    return params.lane_bandwidth * lanes * params.efficiency_ppm / 1'000'000;
}

}  // namespace

Link::Link(
    const sc_core::sc_module_name& name,
    const LinkParams& params,
    std::uint32_t lanes,
    std::uint32_t id,
    Scheduler& scheduler) :
    sc_module(name),
    latency_(params.latency.count()),
    scheduler_(scheduler),
    acknowledges_writes_(params.format.write_ack_flits > 0),
    buffer_((params.buffer_per_lane * lanes).count()),
    id_(id),
    bandwidth_(usable(params, lanes)),
    lanes_(lanes),
    params_(params) {
    ps_per_byte_ = fixed_ps_per_byte(bandwidth_);
    const Bytes first =
        params_.format.max_payload + params_.format.flit * params_.format.header_flits;
    head_time_ = serialization_time(first, usable(params, 1)).count();
}

std::uint32_t Link::wire_bytes(const Packet& packet) {
    if (packet.widening != 1) [[unlikely]]
        return params_.format.wire_bytes(packet.kind, packet.payload * packet.widening);
    if (packet.payload != last_payload_ || packet.kind != last_kind_) {
        last_payload_ = packet.payload;
        last_kind_ = packet.kind;
        last_wire_ = params_.format.wire_bytes(packet.kind, packet.payload);
    }
    return last_wire_;
}

OptionalTime
Link::send(const Packet& packet, Time earliest, Link* upstream, LinkListener* listener) {
    const auto channel = static_cast<std::size_t>(virtual_channel(packet.kind));
    const std::uint64_t now = scheduler_.now().count();
    if (!returning_.empty())
        collect_credits(now);
    if ((queued_ != 0 && !waiting_[channel].empty()) || !has_credit(channel))
        return wait(packet, earliest, upstream, listener);
    const Time finish = commit(packet, earliest.count());
    // The upstream place is given back with the bytes it took there.
    if (upstream != nullptr)
        upstream->release(packet.channel, packet.wire, finish);
    return finish;
}

OptionalTime
Link::wait(const Packet& packet, Time earliest, Link* upstream, LinkListener* listener) {
    ++statistics_.blocked_packets;
    ++queued_;
    waiting_[static_cast<std::size_t>(virtual_channel(packet.kind))].push_back(
        {packet, upstream, listener, earliest.count()});
    statistics_.peak_waiting = std::max<std::uint64_t>(statistics_.peak_waiting, waiting());
    arm_pump(scheduler_.now().count());
    return std::nullopt;
}

bool Link::can_send(PacketKind kind) {
    collect_credits(scheduler_.now().count());
    const auto channel = static_cast<std::size_t>(virtual_channel(kind));
    return waiting_[channel].empty() && has_credit(channel);
}

bool Link::has_credit(std::size_t channel) const {
    // A train of packets sets out when there is room for its first; the rest follows as the far end
    // drains.
    return used_[channel] < buffer_;
}

void Link::occupy(std::uint64_t start, std::uint32_t bytes) {
    if (start > busy_until_) {
        busy_until_ = start;
        busy_fraction_ = 0;
    }
    const auto length = static_cast<unsigned __int128>(bytes) * ps_per_byte_ + busy_fraction_;
    busy_until_ += static_cast<std::uint64_t>(length >> 32U);
    busy_fraction_ = static_cast<std::uint32_t>(length);
    statistics_.wire_bytes += bytes;
}

Time Link::commit(const Packet& packet, std::uint64_t earliest) {
    const std::uint32_t wire = wire_bytes(packet);
    const VirtualChannel channel = virtual_channel(packet.kind);
    used_[static_cast<std::size_t>(channel)] += wire;
    const std::uint64_t start = std::max(earliest, busy_until_);
    occupy(start, wire);
    if (errors_ != nullptr) [[unlikely]]
        replay(wire);
    // The tail cannot leave before it has come in.
    if (packet.tail > busy_until_) {
        busy_until_ = packet.tail;
        busy_fraction_ = 0;
    }
    const std::uint64_t tail = busy_until_ + latency_;
    std::uint64_t due = cut_through_ ? std::min(start + head_time_ + latency_, tail) : tail;
    if (packet.lines > 1 && !cut_through_)
        due -= (busy_until_ - start) / packet.lines * (packet.lines - 1);
    ++statistics_.packets;
    if (packet.kind != PacketKind::kReadRequest && packet.kind != PacketKind::kReduceRequest &&
        packet.kind != PacketKind::kReduceFetch)
        statistics_.payload_bytes += packet.payload;
    // Written where it will lie: a packet that was changed just before it is copied stalls the
    // copy.
    InFlight& sent = in_flight_.push_back();
    sent.packet = packet;
    sent.packet.tail = tail;
    sent.packet.wire = wire;
    sent.packet.channel = channel;
    sent.packet.route = packet.route + (follows_route(packet.kind) ? 1U : 0U);
    sent.due = due;
    // The table's entry lies beside the one that led here.
    sent.onward = cut_through_ && routes_ != nullptr && follows_route(packet.kind)
                      ? (*routes_)[packet.route + 1]
                      : nullptr;
    if (in_flight_.size() == 1)
        scheduler_.at(Time(due), *this, kDeliver);
    return Time(busy_until_);
}

void Link::degrade(std::uint32_t ppm) {
    const std::uint64_t left = std::uint64_t{params_.efficiency_ppm} * ppm / 1'000'000;
    LinkParams slower = params_;
    slower.efficiency_ppm = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, left));
    bandwidth_ = usable(slower, lanes_);
    ps_per_byte_ = fixed_ps_per_byte(bandwidth_);
}

void Link::inject_errors(double bit_error_rate, std::uint64_t seed) {
    errors_.reset();
    if (bit_error_rate <= 0)
        return;
    errors_ = std::make_unique<Errors>(
        Errors{8 * std::log1p(-bit_error_rate), RandomStream(seed, name()), 0});
    errors_->bytes_left = bytes_to_next_error(*errors_);
}

std::uint64_t Link::bytes_to_next_error(Errors& errors) {
    const double uniform = errors.stream.share() + 0x1p-54;
    const double bytes = std::log(uniform) / errors.log_good_byte;
    return bytes < 1e18 ? static_cast<std::uint64_t>(bytes) : UINT64_MAX;
}

void Link::replay(std::uint32_t bytes) {
    // The far end asks for the broken packet; what has been sent since is sent again, too.
    std::uint64_t left = bytes;
    while (errors_->bytes_left < left) {
        left -= errors_->bytes_left;
        errors_->bytes_left = bytes_to_next_error(*errors_);
        const std::uint64_t lost = 2 * params_.latency.count() + head_time_;
        busy_until_ += lost;
        ++statistics_.replays;
        statistics_.replay_time += Time(lost);
    }
    errors_->bytes_left -= left;
}

void Link::add_overhead(std::uint32_t bytes) {
    occupy(scheduler_.now().count(), bytes);
}

void Link::prepare(Prepare step) const {
    if (in_flight_.empty())
        return;
    const InFlight& next = in_flight_.front();
    if (step == Prepare::kSecond)
        sink_->prepare(next.packet);
    else if (next.onward != nullptr)
        next.onward->fetch();
    else
        prefetch(sink_, kSinkBytes);
}

void Link::on_event(std::uint64_t tag) {
    if (tag == kDeliver)
        deliver();
    else
        pump();
}

void Link::deliver() {
    const std::uint64_t now = scheduler_.now().count();
    do {
        const Packet packet = in_flight_.front().packet;
        in_flight_.pop_front();
        const OptionalTime free = sink_->accept(packet, *this);
        if (free)
            release(packet.channel, packet.wire, *free);
    } while (!in_flight_.empty() && in_flight_.front().due <= now);
    if (!in_flight_.empty())
        scheduler_.at(Time(in_flight_.front().due), *this, kDeliver);
}

void Link::release(VirtualChannel channel, std::uint32_t bytes, Time when) {
    std::uint64_t due = when.count() + latency_;
    // Credits come back over one wire, in order.
    if (!returning_.empty())
        due = std::max(due, returning_.back().due);
    Returning& credit = returning_.push_back();
    credit.due = due;
    credit.bytes = bytes;
    credit.channel = channel;
    if (queued_ != 0)
        arm_pump(scheduler_.now().count());
}

void Link::collect_credits(std::uint64_t now) {
    while (!returning_.empty() && returning_.front().due <= now) {
        const Returning& credit = returning_.front();
        std::uint64_t& used = used_[static_cast<std::size_t>(credit.channel)];
        SWITCHFOLD_CHECK(used >= credit.bytes, "link {}: more credits returned than taken", name());
        used -= credit.bytes;
        returning_.pop_front();
    }
}

void Link::arm_pump(std::uint64_t now) {
    if (pump_armed_ || returning_.empty())
        return;
    pump_armed_ = true;
    scheduler_.at(Time(std::max(now, returning_.front().due)), *this, kPump);
}

void Link::pump() {
    pump_armed_ = false;
    const std::uint64_t now = scheduler_.now().count();
    collect_credits(now);
    for (std::size_t channel = kVirtualChannels; channel-- > 0;) {  // responses first
        auto& queue = waiting_[channel];
        while (!queue.empty() && has_credit(channel)) {
            const Waiting next = queue.front();
            queue.pop_front();
            --queued_;
            const Time finish = commit(next.packet, std::max(next.earliest, now));
            if (next.upstream != nullptr)
                next.upstream->release(next.packet.channel, next.packet.wire, finish);
            if (next.listener != nullptr)
                next.listener->on_departure(next.packet.tag, finish);
        }
    }
    if (queued_ != 0)
        arm_pump(now);
}

std::size_t Link::waiting() const {
    return queued_;
}

std::uint64_t Link::outstanding(VirtualChannel channel) const {
    std::uint64_t used = used_[static_cast<std::size_t>(channel)];
    for (std::size_t i = 0; i < returning_.size(); ++i)
        if (returning_[i].channel == channel)
            used -= returning_[i].bytes;
    return used;
}

}  // namespace switchfold
