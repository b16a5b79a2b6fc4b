// SPDX-License-Identifier: Apache-2.0
#include "interconnect/link.h"

#include "core/error.h"

#include <algorithm>
#include <cmath>

namespace switchfold {

namespace {

/// Optimisation barrier: keeps the maximum of two times branch-free, because which one is later
/// cannot be predicted.
template <class Number>
Number computed(Number number) {
    asm("" : "+r"(number));  // NOLINT(hicpp-no-assembler)
    return number;
}

/// max(time - than, 0).
std::uint64_t excess(std::uint64_t time, std::uint64_t than) {
    return computed(time > than ? time - than : 0);
}

/// The number if the condition holds, otherwise 0.
std::uint64_t only_if(bool condition, std::uint64_t number) {
    return number & computed(std::uint64_t{0} - (condition ? 1U : 0U));
}

}  // namespace

Link::Link(const sc_core::sc_module_name& name, std::shared_ptr<LinkKind> kind, std::uint32_t id) :
    LinkState(*kind), sc_module(name), id_(id), own_kind_(std::move(kind)) {}

OptionalTime
Link::send(const Packet& packet, Time earliest, Link* upstream, LinkListener* listener) {
    if (answering_) [[unlikely]]
        alternate();
    const auto channel = static_cast<std::size_t>(virtual_channel(packet.kind));
    // Returned credits are collected only when needed, or when there are many.
    if (returning_.full() || !has_credit(channel))
        collect_credits(kind_->context.scheduler.now().count());
    if ((queued_ != 0 && !waiting_[channel].empty()) || !has_credit(channel)) [[unlikely]]
        return wait(packet, earliest, upstream, listener);
    const Time finish = commit(packet, earliest.count());
    // Releases the upstream buffer space, by the bytes the packet occupied there.
    if (upstream != nullptr)
        upstream->release(packet.channel, packet.wire, finish);
    return finish;
}

OptionalTime
Link::wait(const Packet& packet, Time earliest, Link* upstream, LinkListener* listener) {
    collect_credits(kind_->context.scheduler.now().count());
    ++statistics_.blocked_packets;
    ++queued_;
    waiting_[static_cast<std::size_t>(virtual_channel(packet.kind))].push_back(
        {packet, upstream, listener, earliest.count()});
    waiting_bytes_ += packet.payload;
    statistics_.peak_waiting = std::max<std::uint64_t>(statistics_.peak_waiting, waiting());
    arm_pump(kind_->context.scheduler.now().count());
    return std::nullopt;
}

void Link::answer(const Packet& packet, Time ready) {
    Packet& waiting = answers_.push_back();
    waiting = packet;
    waiting.tail = ready.count();
    if (answering_)
        return;
    answering_ = true;
    answered_last_ = false;
    arm_answer(ready.count());
}

void Link::arm_answer(std::uint64_t now) {
    const std::uint64_t due = std::max({answers_.front().tail, busy_until_, now});
    kind_->context.scheduler.at(Time(due), *this, kAnswer);
}

void Link::answer_due() {
    const std::uint64_t now = kind_->context.scheduler.now().count();
    // The one that was due may have left already, in its turn.
    if (!answers_.empty() && answers_.front().tail <= now)
        send_answer();
    answering_ = !answers_.empty();
    if (answering_)
        arm_answer(now);
}

void Link::send_answer() {
    answering_ = false;
    send(answers_.front(), Time(answers_.front().tail));
    answers_.pop_front();
    answering_ = true;
    answered_last_ = true;
}

void Link::alternate() {
    // One that waits for a credit misses its turn.
    constexpr auto kChannel = static_cast<std::size_t>(VirtualChannel::kResponse);
    if (!answered_last_ && !answers_.empty() && answers_.front().tail <= busy_until_ &&
        has_credit(kChannel))
        send_answer();
    answered_last_ = false;
}

bool Link::has_credit(std::size_t channel) const {
    // A train of packets departs when there is room for its first packet; the rest follows as the
    // far end drains.
    return used_[channel] < kind_->buffer;
}

void Link::occupy(std::uint64_t start, std::uint32_t bytes) {
    const std::uint64_t idle = excess(start, busy_until_);
    const auto length = static_cast<unsigned __int128>(bytes) * kind_->ps_per_byte +
                        only_if(idle == 0, busy_fraction_);
    busy_until_ += idle + static_cast<std::uint64_t>(length >> 32U);
    busy_fraction_ = static_cast<std::uint32_t>(length);
    wire_bytes_ += bytes;
}

Time Link::commit(const Packet& packet, std::uint64_t earliest) {
    LinkKind& kind = *kind_;
    const PacketTraits& like = traits(packet.kind);
    const std::uint32_t wire = kind.wire_bytes(packet, payload_bytes_);
    const std::uint64_t latency = kind.latency;
    used_[static_cast<std::size_t>(like.channel)] += wire;
    const std::uint64_t start = busy_until_ + excess(earliest, busy_until_);
    occupy(start, wire);
    if (errors_expected_) [[unlikely]]
        replay(wire);
    if (kind.shares_directions) [[unlikely]]
        hold_up_reverse(wire);
    // The tail cannot leave before it has arrived.
    const std::uint64_t late = excess(packet.tail, busy_until_);
    const std::uint64_t end = busy_until_ + late;
    busy_until_ = end;
    busy_fraction_ = static_cast<std::uint32_t>(only_if(late == 0, busy_fraction_));
    const std::uint64_t tail = end + latency;
    std::uint64_t due = tail;
    if (cut_through_)
        due = std::min(start + kind.head_time + latency, tail);
    else if (packet.lines > 1 && is_train(packet.kind)) [[unlikely]]
        due -= (end - start) / packet.lines * (packet.lines - 1);
    ++packets_;
    payload_bytes_ += only_if(like.carries_data, packet.payload);
    // Writes the packet in its final place: copying a packet right after a change would stall the
    // copy.
    Packet& sent = put_in_flight(due);
    sent = packet;
    sent.tail = tail;
    sent.wire = wire;
    sent.channel = like.channel;
    sent.route = packet.route + (like.follows_route ? 1U : 0U);
    // The table entry after the current one.
    sent.onward =
        cut_through_ && like.follows_route ? kind.context.routes[packet.route + 1] : nullptr;
    return Time(end);
}

Packet& Link::put_in_flight(std::uint64_t due) {
    if (in_flight_++ == 0) {
        kind_->context.scheduler.at(Time(due), *this, kDeliver);
        return first_;
    }
    PacketPool& pool = kind_->context.in_flight;
    const std::uint32_t place = pool.take();
    later_.push_back(place);
    PacketPool::InFlight& later = pool[place];
    later.due = due;
    return later.packet;
}

void Link::degrade(std::uint32_t ppm) {
    own_kind_ = std::make_shared<LinkKind>(kind_->degraded(ppm));
    kind_ = own_kind_.get();
}

void Link::inject_errors(double bit_error_rate, std::uint64_t seed) {
    errors_.reset();
    errors_expected_ = bit_error_rate > 0;
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
    // The far end requests the corrupted packet again; everything sent since is retransmitted as
    // well.
    std::uint64_t left = bytes;
    while (errors_->bytes_left < left) {
        left -= errors_->bytes_left;
        errors_->bytes_left = bytes_to_next_error(*errors_);
        const std::uint64_t lost = 2 * kind_->latency + kind_->head_time;
        busy_until_ += lost;
        ++statistics_.replays;
        statistics_.replay_time += Time(lost);
    }
    errors_->bytes_left -= left;
}

Time Link::carry(std::uint32_t payload, std::uint32_t wire) {
    occupy(kind_->context.scheduler.now().count(), wire);
    if (errors_expected_) [[unlikely]]
        replay(wire);
    if (kind_->shares_directions)
        hold_up_reverse(wire);
    payload_bytes_ += payload;
    return busy_until();
}

void Link::hold_up_reverse(std::uint32_t bytes) {
    const std::uint64_t carried = reverse_->wire_bytes_;
    reverse_->add_overhead(kind_->taken_from_reverse(bytes));
    reverse_->wire_bytes_ = carried;
}

void Link::watch(PacketWatch& watch) {
    SWITCHFOLD_CHECK(watched_ == nullptr, "link {} is watched twice", name());
    watched_ = std::make_unique<WatchedSink>(*sink_, watch, kind_->context.scheduler);
    sink_ = watched_.get();
}

void Link::add_overhead(std::uint32_t bytes) {
    occupy(kind_->context.scheduler.now().count(), bytes);
}

void Link::prepare(Prepare step) const {
    if (in_flight_ == 0)
        return;
    if (step == Prepare::kSecond)
        sink_->prepare(first_);
    else if (first_.onward != nullptr)
        first_.onward->fetch();
    else
        prefetch(sink_, kSinkBytes);
}

void Link::on_event(std::uint64_t tag) {
    if (tag == kDeliver)
        deliver();
    else if (tag == kAnswer)
        answer_due();
    else
        pump();
}

std::uint64_t Link::next_in_flight() {
    PacketPool& pool = kind_->context.in_flight;
    const std::uint32_t place = later_.front();
    later_.pop_front();
    pool.give_back(place);
    first_ = pool[place].packet;
    return pool[place].due;
}

void Link::deliver() {
    // Prefetches what will be needed once this packet is on its way.
    if (in_flight_ > 1)
        prefetch(&kind_->context.in_flight[later_.front()]);
    prefetch(returning_.next_place());
    const std::uint64_t now = kind_->context.scheduler.now().count();
    std::uint64_t due = now;
    do {
        const OptionalTime free = sink_->accept(first_, *this);
        if (free)
            release(first_.channel, first_.wire, *free);
        if (--in_flight_ == 0)
            return;
        due = next_in_flight();
    } while (due <= now);
    kind_->context.scheduler.at(Time(due), *this, kDeliver);
}

void Link::release(VirtualChannel channel, std::uint32_t bytes, Time when) {
    std::uint64_t due = when.count() + kind_->latency;
    // Credits return over one wire, in order.
    if (!returning_.empty())
        due = std::max(due, returning_.back().due);
    Returning& credit = returning_.push_back();
    credit.due = due;
    credit.bytes = bytes;
    credit.channel = channel;
    if (queued_ != 0)
        arm_pump(kind_->context.scheduler.now().count());
}

void Link::collect_credits(std::uint64_t now) {
    while (!returning_.empty() && returning_.front().due <= now) {
        const Returning& credit = returning_.front();
        std::uint64_t& used = used_[static_cast<std::size_t>(credit.channel)];
        SWITCHFOLD_CHECK(used >= credit.bytes, "link {}: more credits returned than taken", name());
        used -= credit.bytes;
        returning_.pop_front();
    }
    if (pauses_ != nullptr) [[unlikely]]
        pauses_->on_credits();
}

void Link::arm_pump(std::uint64_t now) {
    if (pump_armed_ || returning_.empty())
        return;
    pump_armed_ = true;
    kind_->context.scheduler.at(Time(std::max(now, returning_.front().due)), *this, kPump);
}

void Link::pump() {
    pump_armed_ = false;
    const std::uint64_t now = kind_->context.scheduler.now().count();
    collect_credits(now);
    for (std::size_t channel = kVirtualChannels; channel-- > 0;) {  // responses first
        auto& queue = waiting_[channel];
        while (!queue.empty() && has_credit(channel)) {
            const Waiting next = queue.front();
            queue.pop_front();
            --queued_;
            waiting_bytes_ -= next.packet.payload;
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

LinkStatistics Link::statistics() const {
    LinkStatistics all = statistics_;
    all.packets = packets_;
    all.payload_bytes = payload_bytes_;
    all.wire_bytes = wire_bytes_;
    return all;
}

std::size_t Link::waiting() const {
    return queued_;
}

std::uint64_t Link::outstanding(VirtualChannel channel) const {
    std::uint64_t used = used_[static_cast<std::size_t>(channel)] & ~kPaused;
    for (std::size_t i = 0; i < returning_.size(); ++i)
        if (returning_[i].channel == channel)
            used -= returning_[i].bytes;
    return used;
}

}  // namespace switchfold
