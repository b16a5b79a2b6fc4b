// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "interconnect/reduction_policy.h"
#include "interconnect/switch.h"

#include <algorithm>

namespace switchfold {

namespace {

// Tags of a reduction's answers, and of the unit's own events, encode port and line.
constexpr std::uint32_t kLineBits = 20;
constexpr std::uint32_t kLineMask = (1U << kLineBits) - 1;

enum class UnitEvent : std::uint8_t { kLineReady, kTimeout, kTrainReady };

std::uint64_t event_tag(UnitEvent what, std::uint32_t port, std::uint32_t line) {
    return static_cast<std::uint64_t>(what) << 60U | std::uint64_t{port} << kLineBits | line;
}

}  // namespace

void Switch::stall(std::uint32_t port, TreeRole role, const Stalled& waiting) {
    // The packet stays in the input buffer: a full unit exerts back-pressure on its senders.
    ports_[port].unit->note_stall();
    ports_[port].stalled_as(role).push_back(waiting);
}

OptionalTime Switch::accept_fetch(const Packet& packet, Link& from) {
    const std::uint32_t port = from.port();
    const TreeRole role = role_in(group(packet.group));
    const bool first = !must_wait(port, role, packet);
    if (first && open_pull(port, packet)) [[likely]]
        return scheduler_.now();
    Stalled waiting{.packet = packet, .from = &from, .since = scheduler_.now()};
    if (first && open_rest(port, waiting))
        return scheduler_.now();
    stall(port, role, waiting);
    return std::nullopt;
}

bool Switch::open_pull(std::uint32_t port, const Packet& packet) {
    const SwitchGroup& members = group(packet.group);
    ReductionUnit& unit = *ports_[port].unit;
    const std::optional<std::uint32_t> line =
        unit.open(packet, role_in(members), members.answers, members.unit, scheduler_.now());
    if (!line)
        return false;
    if (failed_)
        time_out(port, *line);
    else
        fetch(port, *line, packet, 0);
    return true;
}

void Switch::time_out(std::uint32_t port, std::uint32_t line) {
    SWITCHFOLD_CHECK(line <= kLineMask, "{}: too many open reductions", name());
    ports_[port].unit->fail(line);
    scheduler_.at(
        scheduler_.now() + params_.latency + params_.reduction->timeout, *this,
        event_tag(UnitEvent::kLineReady, port, line));
}

void Switch::fetch(
    std::uint32_t port, std::uint32_t line, const Packet& part, std::uint32_t begin) {
    SWITCHFOLD_CHECK(line <= kLineMask, "{}: too many open reductions", name());
    const Time earliest = scheduler_.now() + params_.latency;
    Packet fetch = part;
    fetch.kind = PacketKind::kReduceFetch;
    fetch.reply = port << kLineBits | line;
    fetch.tail = earliest.count();
    // Below another switch, which may have asked for a part itself.
    const std::uint32_t above = part.kind == PacketKind::kReduceFetch ? part.count : 0;
    fetch.count = static_cast<std::uint16_t>(above + begin / kReduceGrain);
    for (Link* out : group(part.group).down)
        out->send(fetch, earliest);
}

Time Switch::accept_answer(const Packet& packet, Link& from) {
    const std::uint32_t port = packet.reply >> kLineBits;
    const std::uint32_t index = packet.reply & kLineMask;
    ReductionUnit& unit = *ports_[port].unit;
    if (packet.values != 0) {
        // Children are summed in a fixed order, whatever the order of arrival.
        const std::vector<Link*>& down = group(packet.group).down;
        auto& slots = unit.line(index).values;
        slots.resize(std::max(slots.size(), down.size()), 0);
        const auto child = static_cast<std::size_t>(
            std::find(down.begin(), down.end(), &from.reverse()) - down.begin());
        if (slots[child] == 0)
            slots[child] = packet.values;
        else
            slots.push_back(packet.values);
    }
    if (const auto ready = unit.add(index, packet, scheduler_.now(), group(packet.group).unit))
        stream_out(port, index, *ready);
    return std::max(scheduler_.now(), Time(packet.tail));
}

Time Switch::leaves_at(std::uint32_t port, std::uint32_t index, ReductionUnit::Span ready) {
    // The sum leaves at the link's rate behind the adders, no earlier than it can leave without
    // gaps.
    ReductionUnit::Line& line = ports_[port].unit->line(index);
    const Time length = serialization_time(
        Bytes(stored_bytes(line.packet.payload, line.packet.width)), ports_[port].out->bandwidth());
    const Time start = ready.last - std::min(ready.last, length);
    line.tail = ready.last;
    return std::max(ready.first, start);
}

void Switch::stream_out(std::uint32_t port, std::uint32_t index, ReductionUnit::Span ready) {
    scheduler_.at(
        leaves_at(port, index, ready), *this, event_tag(UnitEvent::kLineReady, port, index));
}

void Switch::post_train(Time start, std::uint32_t train) {
    SWITCHFOLD_CHECK(train <= kLineMask, "{}: too many sums on their way out", name());
    scheduler_.at(start, *this, event_tag(UnitEvent::kTrainReady, 0, train));
}

std::uint32_t Switch::push_port(const SwitchGroup& members, const Packet& packet) const {
    Link* out = members.up != nullptr ? members.up : members.towards[packet.route];
    return out->reverse().port();
}

OptionalTime Switch::accept_push(const Packet& packet, Link& from) {
    const SwitchGroup& members = group(packet.group);
    const Time now = scheduler_.now();
    const Time arrived = std::max(now, Time(packet.tail));
    if (members.flushed) {
        values_.drop(packet.values);
        return arrived;
    }
    if (packet.lines > 1)
        return accept_train(packet, from);
    const std::uint32_t port = push_port(members, packet);
    // Operands of an open line must not wait behind those of lines without room: the open entry
    // waits for them.
    const TreeRole role = role_in(members);
    const bool may_open = !must_wait(port, role, packet);
    if ((may_open || ports_[port].unit->has_line(packet)) && merge_push(port, packet, now))
        return arrived;
    stall(port, role, {.packet = packet, .from = &from, .since = now});
    evict_for(port, role);
    return std::nullopt;
}

std::optional<ReductionUnit::Push>
Switch::add_push(std::uint32_t port, const Packet& packet, Time now) {
    const SwitchGroup& members = group(packet.group);
    ReductionUnit& unit = *ports_[port].unit;
    // A failed unit never completes a line.
    const std::uint32_t wanted = failed_ ? ReductionUnit::kNone : members.leaves;
    auto pushed = unit.push(packet, role_in(members), wanted, members.unit, now);
    if (!pushed)
        return std::nullopt;
    SWITCHFOLD_CHECK(pushed->line <= kLineMask, "{}: too many open reductions", name());
    if (failed_)
        unit.line(pushed->line).failed = true;
    const Time crossing = params_.latency;  // of the last operands, on the way to the unit
    if (pushed->ready)
        pushed->ready = {pushed->ready->first + crossing, pushed->ready->last + crossing};
    else if (pushed->fresh)
        arm_timer(port);
    return pushed;
}

bool Switch::merge_push(std::uint32_t port, const Packet& packet, Time now) {
    const auto pushed = add_push(port, packet, now);
    if (pushed && pushed->ready)
        stream_out(port, pushed->line, *pushed->ready);
    return pushed.has_value();
}

bool Switch::evict_for(std::uint32_t port, TreeRole role, const Packet& waiting) {
    ReductionUnit& unit = *ports_[port].unit;
    const std::uint32_t line = policy_->victim(unit, role, waiting);
    if (line == ReductionUnit::kNone)
        return false;
    SWITCHFOLD_CHECK(
        line < unit.lines() && unit.line(line).role == role,
        "{}: a reduction policy names line {}, which is none of those that could leave", name(),
        line);
    unit.note_eviction();
    scheduler_.at(
        unit.expel(line, scheduler_.now()), *this, event_tag(UnitEvent::kLineReady, port, line));
    return true;
}

void Switch::arm_timer(std::uint32_t port) {
    Port& p = ports_[port];
    const Time timeout = params_.reduction->timeout;
    if (p.timer_armed || timeout == Time())
        return;
    Time first = kTimeMax;
    for (const TreeRole role : {TreeRole::kRoot, TreeRole::kBelow})
        if (const std::uint32_t oldest = p.unit->oldest(role); oldest != ReductionUnit::kNone)
            first = std::min(first, p.unit->line(oldest).touched + timeout);
    if (first == kTimeMax)
        return;
    p.timer_armed = true;
    scheduler_.at(
        std::max(scheduler_.now(), first), *this, event_tag(UnitEvent::kTimeout, port, 0));
}

void Switch::expire(std::uint32_t port) {
    Port& p = ports_[port];
    p.timer_armed = false;
    const Time now = scheduler_.now();
    for (const TreeRole role : {TreeRole::kRoot, TreeRole::kBelow})
        for (std::uint32_t line = p.unit->oldest(role); line != ReductionUnit::kNone;
             line = p.unit->oldest(role)) {
            if (p.unit->line(line).touched + params_.reduction->timeout > now)
                break;
            p.unit->note_timeout();
            scheduler_.at(
                p.unit->expel(line, now), *this, event_tag(UnitEvent::kLineReady, port, line));
        }
    arm_timer(port);
}

void Switch::on_event(std::uint64_t tag) {
    const auto port = static_cast<std::uint32_t>(tag >> kLineBits) & kLineMask;
    const auto line = static_cast<std::uint32_t>(tag) & kLineMask;
    switch (static_cast<UnitEvent>(tag >> 60U)) {
    case UnitEvent::kLineReady:
        line_ready(port, line);
        break;
    case UnitEvent::kTimeout:
        expire(port);
        break;
    case UnitEvent::kTrainReady:
        train_ready(line);
        break;
    }
}

void Switch::line_ready(std::uint32_t port, std::uint32_t line) {
    const ReductionUnit::Line& ready = ports_[port].unit->line(line);
    const TreeRole role = ready.role;
    if (ready.request == ReductionUnit::kNone) [[likely]]
        send_line(port, line);
    else
        end_part(port, line);
    drain(port, role);
}

Packet Switch::close_line(Port& port, std::uint32_t index) {
    ReductionUnit::Line& line = port.unit->line(index);
    const SwitchGroup& members = group(line.packet.group);
    Packet sum = line.packet;
    sum.wire = 0;
    sum.tail = std::max(scheduler_.now(), line.tail).count();
    sum.count = line.failed ? 0 : static_cast<std::uint16_t>(line.count);
    sum.values = 0;
    const bool complete = !line.failed && line.count == members.leaves;
    const bool whole = complete && members.up == nullptr;
    const Accumulation accumulation = params_.reduction->accumulation;
    // A flushed group's pulls continue: the requester is gone, but lines at other switches wait for
    // answers.
    const bool dropped = line.push && members.flushed;
    if (line.failed || dropped) {
        for (const std::uint32_t handle : line.values)
            values_.drop(handle);
    } else if (!line.values.empty()) {
        std::erase(line.values, 0U);
        sum.values = fold(values_, line.values, members.format, accumulation, whole);
    }
    sum.width = whole ? members.unit.sums : members.unit.partial_sums;
    // A part counts with its request.
    port.unit->close(
        index, complete && line.request == ReductionUnit::kNone, sum.width, scheduler_.now());
    return sum;
}

void Switch::send_line(std::uint32_t port, std::uint32_t index) {
    Packet sum = close_line(ports_[port], index);
    if (sum.kind == PacketKind::kReducePush) {
        send_sum(sum);
        return;
    }
    // A command's sum goes to all members; a failure is reported to the sender only.
    if (sum.kind == PacketKind::kReduceCommand && sum.count > 0) {
        copy_down(sum);
        return;
    }
    const bool fetched = sum.kind == PacketKind::kReduceFetch;
    sum.kind = fetched ? PacketKind::kReduceData : PacketKind::kReduceResult;
    ports_[port].out->send(sum, scheduler_.now());
}

void Switch::send_sum(const Packet& sum) {
    const SwitchGroup& members = group(sum.group);
    if (members.flushed)
        return;
    const Time now = scheduler_.now();
    const bool complete = sum.count == members.leaves;
    Packet next = sum;
    if (members.up != nullptr && sum.count > 0) {
        members.up->send(next, now);
    } else if (complete && !members.scatters) {
        copy_down(next);
    } else {
        // The home's own, a partial sum that no further adder can complete, or a failure report.
        next.kind = PacketKind::kReducePartial;
        Link* home = members.towards[sum.route];
        (home != nullptr ? home : members.up)->send(next, now);
    }
}

void Switch::copy_down(const Packet& sum) {
    const SwitchGroup& members = group(sum.group);
    Packet next = sum;
    next.kind = PacketKind::kMulticastCopy;
    statistics_.multicast_copies += members.down.size();
    for (Link* out : members.down) {
        values_.share(next.values);
        out->send(next, scheduler_.now());
    }
    values_.drop(next.values);
}

void Switch::drain(std::uint32_t port_index, TreeRole role) {
    if (ordered_) [[unlikely]] {
        drain_in_order(port_index, role);
        return;
    }
    Port& port = ports_[port_index];
    auto& queue = port.stalled_as(role);
    const Time now = scheduler_.now();
    while (!queue.empty()) {
        const bool push = queue.front().packet.kind == PacketKind::kReducePush;
        if (push && group(queue.front().packet.group).flushed)
            values_.drop(queue.front().packet.values);
        else if (
            push ? !merge_push(port_index, queue.front().packet, now)
                 : !open_rest(port_index, queue.front()))
            break;
        const Stalled waiting = queue.front();
        const Packet& packet = waiting.packet;
        queue.pop_front();
        port.unit->note_stall_end(now - waiting.since);
        waiting.from->release(packet.channel, packet.wire, now);
        if (push)
            merge_stalled(port_index, role, packet);
    }
    if (!queue.empty())
        evict_for(port_index, role);
}

void Switch::merge_stalled(std::uint32_t port_index, TreeRole role, const Packet& like) {
    // Operands for the line just opened may be queued behind others that only they can unblock.
    Port& port = ports_[port_index];
    const Time now = scheduler_.now();
    auto& queue = port.stalled_as(role);
    for (std::size_t left = queue.size(); left > 0; --left) {
        const Stalled waiting = queue.front();
        queue.pop_front();
        const Packet& p = waiting.packet;
        const bool same = p.kind == PacketKind::kReducePush && p.tag == like.tag &&
                          p.group == like.group && p.client == like.client;
        if (same && port.unit->has_line(p) && merge_push(port_index, p, now)) {
            port.unit->note_stall_end(now - waiting.since);
            waiting.from->release(p.channel, p.wire, now);
        } else {
            queue.push_back(waiting);
        }
    }
}

void Switch::flush_group(std::uint16_t id) {
    group(id).flushed = true;
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
        if (ports_[p].unit == nullptr)
            continue;
        ReductionUnit& unit = *ports_[p].unit;
        for (std::uint32_t line = 0; line < unit.lines(); ++line) {
            const ReductionUnit::Line& l = unit.line(line);
            if (l.open && l.push && !l.leaving && l.packet.group == id) {
                unit.expel(line, scheduler_.now());
                send_line(p, line);
            }
        }
        for (const TreeRole role : {TreeRole::kRoot, TreeRole::kBelow})
            drain(p, role);
    }
}

}  // namespace switchfold
