// SPDX-License-Identifier: Apache-2.0
#include "interconnect/switch.h"

#include "sim/core/error.h"

#include <algorithm>

namespace switchfold {

namespace {
// A reduction's answers name the port and the session they belong to.
constexpr std::uint32_t kSessionBits = 20;
constexpr std::uint32_t kSessionMask = (1U << kSessionBits) - 1;
}  // namespace

Switch::Switch(
    const sc_core::sc_module_name& name,
    const SwitchParams& params,
    const std::vector<std::uint32_t>& routes,
    const std::vector<Link*>& links,
    ValuePool& values,
    Scheduler& scheduler) :
    sc_module(name),
    params_(params),
    routes_(routes),
    links_(links),
    values_(values),
    scheduler_(scheduler) {}

void Switch::attach(Link& incoming, std::uint32_t lanes) {
    const auto port = static_cast<std::uint32_t>(ports_.size());
    incoming.bind(*this, port, true);
    incoming_.push_back(&incoming);
    Port& added = ports_.emplace_back();
    added.in = &incoming;
    added.out = &incoming.reverse();
    if (params_.reduction)
        added.unit = std::make_unique<ReductionUnit>(*params_.reduction, lanes);
}

bool Switch::add_group(std::uint16_t id, SwitchGroup members) {
    if (!params_.multicast || !params_.reduction)
        return false;
    if (groups_held_ == params_.reduction->max_groups ||
        members.members.size() > params_.reduction->max_members)
        return false;
    if (groups_.size() <= id)
        groups_.resize(id + 1U);
    groups_[id] = std::move(members);
    ++groups_held_;
    return true;
}

void Switch::remove_group(std::uint16_t id) {
    SWITCHFOLD_CHECK(!group(id).members.empty(), "{}: no group {}", name(), id);
    groups_[id].members.clear();
    --groups_held_;
}

const SwitchGroup& Switch::group(std::uint16_t id) const {
    SWITCHFOLD_CHECK(
        id < groups_.size() && !groups_[id].members.empty(), "{}: no group {}", name(), id);
    return groups_[id];
}

std::optional<Time> Switch::accept(const Packet& packet, Link& from) {
    ++statistics_.packets;
    switch (packet.kind) {
    case PacketKind::kReduceRequest:
        return open_reduction(packet, from);
    case PacketKind::kReduceData:
        return answer(packet, from);
    case PacketKind::kMulticastWrite:
        return multicast(packet, from);
    default:
        return forward(packet, from);
    }
}

std::optional<Time> Switch::forward(const Packet& packet, Link& from) {
    if (packet.kind == PacketKind::kWrite) {
        const std::uint32_t back = from.acknowledge_bytes(packet.kind, packet.payload);
        if (back > 0)
            from.reverse().add_overhead(back);
    }
    Packet next = packet;
    Link* out = links_[routes_[next.route++]];
    out->send(next, scheduler_.now() + params_.latency, &from);
    return std::nullopt;
}

std::optional<Time> Switch::multicast(const Packet& packet, Link& from) {
    const SwitchGroup& members = group(packet.group);
    const std::uint32_t back = from.acknowledge_bytes(packet.kind, packet.payload);
    if (back > 0)
        from.reverse().add_overhead(back);
    const Time earliest = scheduler_.now() + params_.latency;
    // The place in the buffer is free when the last copy has left; a copy that has to wait for a
    // credit takes over the duty of freeing it.
    Time last = earliest;
    bool handed_over = false;
    statistics_.multicast_copies += members.members.size();
    for (Link* out : members.members) {
        values_.share(packet.values);
        const bool take = !handed_over && !out->can_send(packet.kind);
        const std::optional<Time> finish = out->send(packet, earliest, take ? &from : nullptr);
        handed_over = handed_over || take;
        if (finish)
            last = std::max(last, *finish);
    }
    values_.drop(packet.values);
    if (handed_over)
        return std::nullopt;
    return last;
}

std::optional<Time> Switch::open_reduction(const Packet& packet, Link& from) {
    Port& port = ports_[from.port()];
    const SwitchGroup& members = group(packet.group);
    if (!port.stalled.empty()) {
        port.unit->note_stall();
        port.stalled.push_back(packet);
        return std::nullopt;
    }
    const std::optional<std::uint32_t> session =
        port.unit->open(packet, static_cast<std::uint32_t>(members.members.size()));
    if (!session) {
        // The request keeps its place in the input buffer: a full unit pushes back on its
        // requester.
        port.unit->note_stall();
        port.stalled.push_back(packet);
        return std::nullopt;
    }
    fan_out(from.port(), *session);
    return scheduler_.now();
}

void Switch::fan_out(std::uint32_t port, std::uint32_t session) {
    SWITCHFOLD_CHECK(session <= kSessionMask, "{}: too many open reductions", name());
    const Packet& request = ports_[port].unit->session(session).request;
    Packet fetch = request;
    fetch.kind = PacketKind::kReduceFetch;
    fetch.reply = port << kSessionBits | session;
    const Time earliest = scheduler_.now() + params_.latency;
    fetch.tail = earliest.count();
    for (Link* out : group(request.group).members)
        out->send(fetch, earliest);
}

Time Switch::answer(const Packet& packet, Link& from) {
    const std::uint32_t port = packet.reply >> kSessionBits;
    const std::uint32_t index = packet.reply & kSessionMask;
    ReductionUnit& unit = *ports_[port].unit;
    if (packet.values != 0) {
        const std::vector<Link*>& members = group(packet.group).members;
        auto& slots = unit.session(index).values;
        slots.resize(members.size(), 0);
        const auto member = std::find(members.begin(), members.end(), &from.reverse());
        slots[static_cast<std::size_t>(member - members.begin())] = packet.values;
    }
    // The adder works on the answer as it streams in and is done after its tail.
    const Time arrived = std::max(scheduler_.now(), Time(packet.tail));
    const std::optional<Time> ready = unit.add(index, packet.payload, arrived);
    if (ready)
        scheduler_.at(*ready, *this, packet.reply);
    return arrived;
}

void Switch::on_event(std::uint64_t tag) {
    const auto port_index = static_cast<std::uint32_t>(tag >> kSessionBits);
    const auto index = static_cast<std::uint32_t>(tag & kSessionMask);
    Port& port = ports_[port_index];
    ReductionUnit::Session& session = port.unit->session(index);
    Packet result = session.request;
    result.kind = PacketKind::kReduceResult;
    result.wire = 0;
    result.tail = scheduler_.now().count();
    if (!session.values.empty()) {
        result.values =
            values_.put(reduce_in_order(values_, session.values, group(result.group).type));
        for (const std::uint32_t handle : session.values)
            values_.drop(handle);
    }
    port.out->send(result, scheduler_.now());
    port.unit->close(index);
    while (!port.stalled.empty()) {
        const Packet waiting = port.stalled.front();
        const auto members = static_cast<std::uint32_t>(group(waiting.group).members.size());
        const std::optional<std::uint32_t> opened = port.unit->open(waiting, members);
        if (!opened)
            break;
        port.stalled.pop_front();
        port.in->release(virtual_channel(waiting.kind), waiting.wire, scheduler_.now());
        fan_out(port_index, *opened);
    }
}

std::size_t Switch::stalled_requests() const {
    std::size_t count = 0;
    for (const Port& port : ports_)
        count += port.stalled.size();
    return count;
}

}  // namespace switchfold
