// SPDX-License-Identifier: Apache-2.0
// Packets that wait for entries of a unit whose tenants have quotas or priorities, or whose policy
// has an order of its own: served by precedence, and each held up only by those whose entries it
// shares. Queues are searched here, which nobody pays who has neither.
#include "interconnect/reduction_policy.h"
#include "interconnect/switch.h"

#include <vector>

namespace switchfold {

bool Switch::waits_behind(std::uint32_t port, TreeRole role, const Packet& packet) {
    const ReductionUnit& unit = *ports_[port].unit;
    const auto& queue = ports_[port].stalled_as(role);
    const std::uint32_t own = policy_->precedence(unit, packet);
    for (std::size_t i = 0; i < queue.size(); ++i)
        if (unit.share_entries(queue[i].packet.group, packet.group) &&
            policy_->precedence(unit, queue[i].packet) >= own)
            return true;
    return false;
}

std::size_t
Switch::next_in_order(std::uint32_t port, TreeRole role, const std::vector<bool>& tried) {
    const ReductionUnit& unit = *ports_[port].unit;
    const auto& queue = ports_[port].stalled_as(role);
    const auto held_up = [&](const Packet& packet) {
        for (std::size_t i = 0; i < queue.size(); ++i)
            if (tried[i] && unit.share_entries(queue[i].packet.group, packet.group))
                return true;
        return false;
    };
    std::size_t best = queue.size();
    std::uint32_t highest = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
        const std::uint32_t own = policy_->precedence(unit, queue[i].packet);
        if (tried[i] || (best < queue.size() && own <= highest) || held_up(queue[i].packet))
            continue;
        best = i;
        highest = own;
    }
    return best;
}

bool Switch::serve(std::uint32_t port_index, TreeRole role, std::size_t place) {
    Port& port = ports_[port_index];
    auto& queue = port.stalled_as(role);
    const Time now = scheduler_.now();
    const bool push = queue[place].packet.kind == PacketKind::kReducePush;
    if (push && group(queue[place].packet.group).flushed)
        values_.drop(queue[place].packet.values);
    else if (
        push ? !merge_push(port_index, queue[place].packet, now)
             : !open_rest(port_index, queue[place]))
        return false;
    const Stalled waiting = queue[place];
    for (std::size_t i = place; i > 0; --i)
        queue[i] = queue[i - 1];
    queue.pop_front();
    port.unit->note_stall_end(now - waiting.since);
    waiting.from->release(waiting.packet.channel, waiting.packet.wire, now);
    if (push)
        merge_stalled(port_index, role, waiting.packet);
    return true;
}

void Switch::drain_in_order(std::uint32_t port, TreeRole role) {
    auto& queue = ports_[port].stalled_as(role);
    std::vector<bool> tried(queue.size());
    for (std::size_t i = next_in_order(port, role, tried); i < queue.size();
         i = next_in_order(port, role, tried)) {
        if (serve(port, role, i))
            tried.assign(queue.size(), false);
        else
            tried[i] = true;
    }
    if (!queue.empty())
        evict_for(port, role);
}

void Switch::evict_for(std::uint32_t port, TreeRole role) {
    if (ports_[port].unit->leaving(role))
        return;
    auto& queue = ports_[port].stalled_as(role);
    if (!ordered_) {
        evict_for(port, role, queue.front().packet);
        return;
    }
    std::vector<bool> tried(queue.size());
    for (std::size_t i = next_in_order(port, role, tried); i < queue.size();
         i = next_in_order(port, role, tried)) {
        if (evict_for(port, role, queue[i].packet))
            return;
        tried[i] = true;
    }
}

}  // namespace switchfold
