// SPDX-License-Identifier: Apache-2.0
#include "interconnect/switch.h"

#include "core/error.h"
#include "interconnect/reduction_policy.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

Switch::Switch(
    const sc_core::sc_module_name& name, const SwitchParams& params, ValuePool& values,
    Scheduler& scheduler, bool stores) :
    sc_module(name), scheduler_(scheduler), stores_(stores), params_(params), values_(values) {
    if (params.reduction)
        set_reduction_policy(reduction_policy(*params.reduction));
}

void Switch::set_reduction_policy(std::shared_ptr<const ReductionPolicy> policy) {
    policy_ = std::move(policy);
    ordered_ = policy_->orders() || (params_.reduction && params_.reduction->tenants);
}

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

std::string Switch::add_group(std::uint16_t id, SwitchGroup added) {
    if (params_.reduction && added.reduces)
        if (std::string why = why_refused(id, added.format, added.tenant); !why.empty()) {
            ++statistics_.refused_groups;
            return why;
        }
    if (groups_.size() <= id)
        groups_.resize(id + 1U);
    groups_[id] = std::move(added);
    if (params_.reduction)
        groups_[id].unit = UnitFormat(groups_[id].format, params_.reduction->accumulation);
    ++groups_held_;
    return {};
}

std::string
Switch::why_refused(std::uint16_t id, const OperandFormat& format, std::uint32_t tenant) {
    const ReductionUnitParams& unit = *params_.reduction;
    const auto& types = unit.datatypes;
    if (std::find(types.begin(), types.end(), format.type) == types.end())
        return fmt::format("adds no {}", enum_name(format.type));
    if (std::string why = unit.why_not(format); !why.empty())
        return why;
    if (groups_held_ == unit.max_groups)
        return fmt::format("has no multicast group left of its {}", unit.max_groups);
    for (std::size_t p = 0; p < ports_.size(); ++p)
        if (!ports_[p].unit->admit(id, tenant)) {
            for (std::size_t earlier = 0; earlier < p; ++earlier)
                ports_[earlier].unit->dismiss(id);
            return "has no reduction entries left to set aside";
        }
    return {};
}

void Switch::remove_group(std::uint16_t id) {
    SwitchGroup& removed = group(id);
    if (params_.reduction && removed.reduces)
        for (Port& port : ports_)
            port.unit->dismiss(id);
    removed = SwitchGroup{};
    --groups_held_;
}

void Switch::no_group(std::uint16_t id) const {
    SWITCHFOLD_CHECK(id < groups_.size() && groups_[id].held(), "{}: no group {}", name(), id);
}

OptionalTime Switch::accept(const Packet& packet, Link& from) {
    ++statistics_.packets;
    switch (packet.kind) {
    case PacketKind::kReduceRequest:
    case PacketKind::kReduceCommand: {
        const SwitchGroup& members = group(packet.group);
        return members.up != nullptr ? pass(packet, from, *members.up) : accept_fetch(packet, from);
    }
    case PacketKind::kReduceFetch:
        return group(packet.group).reduces ? accept_fetch(packet, from) : copy(packet, from, false);
    case PacketKind::kReduceData: {
        const SwitchGroup& members = group(packet.group);
        if (members.home != nullptr)
            return members.home->accept_answer(packet, from);
        if (!members.reduces)
            return pass(packet, from, *members.up);
        return accept_answer(packet, from);
    }
    case PacketKind::kReduceResult:
    case PacketKind::kReducePartial: {
        const SwitchGroup& members = group(packet.group);
        Link* down = members.towards[packet.route];
        return pass(packet, from, down != nullptr ? *down : *members.up);
    }
    case PacketKind::kMulticastWrite: {
        const SwitchGroup& members = group(packet.group);
        return members.up != nullptr ? pass(packet, from, *members.up) : copy(packet, from, true);
    }
    case PacketKind::kMulticastCopy:
        return copy(packet, from, true);
    case PacketKind::kReducePush: {
        const SwitchGroup& members = group(packet.group);
        return members.reduces ? accept_push(packet, from) : pass(packet, from, *members.up);
    }
    default:
        return forward(packet, from);
    }
}

OptionalTime Switch::forward(const Packet& packet, Link& from) {
    if (is_store(packet.kind)) {
        const std::uint32_t back = from.acknowledge_bytes(packet);
        if (back > 0)
            from.reverse().add_overhead(back);
    }
    const Time earliest = scheduler_.now() + params_.latency;
    if (stores_) [[unlikely]] {
        packet.onward->send(packet, earliest);
        return Time(packet.tail);
    }
    packet.onward->send(packet, earliest, &from);
    return std::nullopt;
}

OptionalTime Switch::pass(const Packet& packet, Link& from, Link& out) {
    out.send(packet, scheduler_.now() + params_.latency, &from);
    return std::nullopt;
}

OptionalTime Switch::copy(const Packet& packet, Link& from, bool acknowledge) {
    const SwitchGroup& members = group(packet.group);
    if (acknowledge)
        if (const std::uint32_t back = from.acknowledge_bytes(packet); back > 0)
            from.reverse().add_overhead(back);
    const Time earliest = scheduler_.now() + params_.latency;
    Packet next = packet;
    if (packet.kind == PacketKind::kMulticastWrite)
        next.kind = PacketKind::kMulticastCopy;
    // Buffer space is freed when the last copy has left; a copy that waits for a credit takes over
    // the release.
    Time last = earliest;
    bool handed_over = false;
    statistics_.multicast_copies += members.down.size();
    for (Link* out : members.down) {
        values_.share(packet.values);
        if (const OptionalTime finish = out->send(next, earliest)) {
            last = std::max(last, *finish);
        } else if (!handed_over) {
            out->note_upstream(next.kind, from);
            handed_over = true;
        }
    }
    values_.drop(packet.values);
    if (handed_over)
        return std::nullopt;
    return last;
}

std::size_t Switch::stalled_requests() const {
    std::size_t count = 0;
    for (const Port& port : ports_)
        for (const auto& stalled : port.stalled)
            count += stalled.size();
    return count;
}

}  // namespace switchfold
