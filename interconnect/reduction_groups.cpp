// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "interconnect/fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace switchfold {

std::vector<Bandwidth> ReductionGroup::rates() const {
    std::map<const Link*, Bandwidth> slowest;
    for (const ReductionPlane& plane : planes)
        for (const Link* link : plane.links) {
            const auto [at, fresh] = slowest.try_emplace(plane.uplinks.front(), link->bandwidth());
            at->second = std::min(at->second, link->bandwidth());
        }
    std::vector<Bandwidth> rates;
    for (const auto& [uplink, rate] : slowest)
        rates.push_back(rate);
    return rates;
}

bool ReductionGroup::uses(const Link& link) const {
    return std::any_of(planes.begin(), planes.end(), [&](const ReductionPlane& plane) {
        return std::find(plane.links.begin(), plane.links.end(), &link) != plane.links.end();
    });
}

std::uint16_t Fabric::take_group_id() {
    const auto unused = std::find(groups_used_.begin(), groups_used_.end(), false);
    const auto id = static_cast<std::uint16_t>(unused - groups_used_.begin());
    if (unused == groups_used_.end())
        groups_used_.push_back(true);
    else
        *unused = true;
    return id;
}

std::string
Fabric::add_plane(ReductionGroup& group, const ReductionTree& tree, const OperandFormat& format) {
    ReductionPlane plane;
    plane.id = take_group_id();
    const auto link = [&](std::uint32_t hop) {
        return hop == ReductionTreeNode::kNone ? nullptr : links_[hop].get();
    };
    std::string refused;
    for (const ReductionTreeNode& node : tree.nodes) {
        SwitchGroup place;
        for (const std::uint32_t hop : node.down) {
            place.down.push_back(link(hop));
            plane.links.push_back(link(hop));
            plane.links.push_back(link(reversed(hop)));
        }
        for (const std::uint32_t hop : node.towards)
            place.towards.push_back(link(hop));
        place.up = link(node.up);
        place.leaves = node.leaves;
        place.answers = node.answers;
        place.reduces = node.reduces;
        place.format = format;
        Switch& at = switch_at(node.node);
        if (const auto& unit = at.params().reduction; unit && unit->tenants)
            place.tenant = tenant_of(*unit->tenants, group.ranks);
        refused = at.add_group(plane.id, std::move(place));
        if (!refused.empty()) {
            refused = fmt::format("{} {}", topology_.nodes[node.node].name, refused);
            break;
        }
        plane.switches.push_back(&at);
    }
    for (std::uint32_t member = 0; member < group.ranks.size(); ++member) {
        plane.uplinks.push_back(link(tree.uplinks[member]));
        Time to_root;
        for (const ReductionTreeNode& node : tree.nodes)
            if (node.towards[member] != ReductionTreeNode::kNone)
                to_root +=
                    link(node.towards[member])->latency() + switch_at(node.node).params().latency;
        plane.to_root = std::max(plane.to_root, to_root);
    }
    group.planes.push_back(std::move(plane));
    return refused;
}

ReductionPlan Fabric::plan_group(std::span<const std::uint32_t> ranks) {
    if (!reductions_)
        reductions_ = std::make_unique<ReductionPlanner>(topology_, paths_->neighbours());
    return reductions_->plan(ranks);
}

std::unique_ptr<ReductionGroup> Fabric::create_group(
    std::span<const std::uint32_t> ranks, const OperandFormat& format, std::string& refused) {
    const ReductionPlan plan = plan_group(ranks);
    if (plan.trees.empty())
        throw SimulationError(name(), scheduler_.now(), plan.why_not);
    auto group = std::make_unique<ReductionGroup>();
    group->ranks.assign(ranks.begin(), ranks.end());
    group->members = static_cast<std::uint32_t>(ranks.size());
    group->operands = format.operands();
    group->sums = format.sums();
    std::vector<std::uint32_t> weights;
    for (const ReductionTree& tree : plan.trees) {
        refused = add_plane(*group, tree, format);
        if (!refused.empty()) {
            remove_group(*group);
            return nullptr;
        }
        weights.push_back(tree.weight);
    }
    group->stripes = stripe_order(weights);
    return group;
}

std::unique_ptr<ReductionGroup> Fabric::create_folded_group(
    std::uint32_t first, const std::vector<std::uint32_t>& turns, ElementType type,
    std::string& refused) {
    // One rank alone has no trees; in such a domain any two have those of all.
    std::vector<std::uint32_t> ranks(std::max<std::size_t>(2, turns.size()));
    std::iota(ranks.begin(), ranks.end(), first);
    const std::vector<ReductionTree> trees = plan_group(ranks).trees;
    std::vector<std::uint32_t> weights;
    for (const ReductionTree& tree : trees)
        weights.push_back(tree.weight);
    const std::vector<std::uint32_t> stripes = stripe_order(weights);
    auto group = std::make_unique<ReductionGroup>();
    group->ranks = {first};
    group->members = static_cast<std::uint32_t>(turns.size());
    // A plane for each stripe: where those of the others are depends on it.
    for (std::uint32_t slot = 0; slot < stripes.size(); ++slot) {
        const ReductionTree& own = trees[stripes[slot]];
        const ReductionTreeNode& root = own.nodes.front();
        ReductionPlane plane;
        plane.id = take_group_id();
        plane.uplinks = {links_[own.uplinks.front()].get()};
        plane.switches = {&switch_at(root.node)};
        plane.to_root =
            links_[root.down.front()]->latency() + plane.switches.front()->params().latency;
        SwitchGroup place;
        for (const std::uint32_t turn : turns) {
            const ReductionTree& other = trees[stripes[(slot + turn) % stripes.size()]];
            place.down.push_back(links_[other.nodes.front().down.front()].get());
        }
        place.towards = {links_[root.down.front()].get()};
        place.leaves = place.answers = group->members;
        place.format = type;
        SwitchGroup passing;
        passing.down = place.towards;
        passing.reduces = false;
        passing.home = plane.switches.front();
        refused = plane.switches.front()->add_group(plane.id, std::move(place));
        if (!refused.empty()) {
            refused = fmt::format("{} {}", topology_.nodes[root.node].name, refused);
            groups_used_[plane.id] = false;
            remove_group(*group);
            return nullptr;
        }
        for (const ReductionTree& other : trees)
            if (Switch& there = switch_at(other.nodes.front().node); &there != passing.home) {
                static_cast<void>(there.add_group(plane.id, passing));  // it takes no entries
                plane.others.push_back(&there);
            }
        for (const ReductionTree& other : trees)
            for (const std::uint32_t hop : {other.uplinks.front(), reversed(other.uplinks.front())})
                plane.links.push_back(links_[hop].get());
        group->stripes.push_back(slot);
        group->planes.push_back(std::move(plane));
    }
    return group;
}

std::uint64_t Fabric::push_room(const ReductionGroup& group) const {
    std::uint64_t least = UINT64_MAX;
    for (std::uint32_t p = 0; p < group.planes.size(); ++p) {
        const auto stripes =
            static_cast<std::uint64_t>(std::count(group.stripes.begin(), group.stripes.end(), p));
        for (Switch* member : group.planes[p].switches)
            if (const std::uint64_t room = member->push_room(group.planes[p].id);
                room < UINT64_MAX / group.stripes.size())
                least = std::min(
                    least, room * group.stripes.size() / std::max(stripes, std::uint64_t{1}));
    }
    return least;
}

Bytes Fabric::reduction_line(const ReductionGroup& group) const {
    Bytes least(UINT32_MAX);
    for (const ReductionPlane& plane : group.planes)
        for (const Switch* member : plane.switches)
            if (member->params().reduction)
                least = std::min(least, member->params().reduction->line);
    return least;
}

void Fabric::remove_group(const ReductionGroup& group) {
    for (const ReductionPlane& plane : group.planes) {
        for (const auto* switches : {&plane.switches, &plane.others})
            for (Switch* member : *switches)
                member->remove_group(plane.id);
        groups_used_[plane.id] = false;
    }
}

void Fabric::scatter(const ReductionGroup& group) {
    for (const ReductionPlane& plane : group.planes)
        for (Switch* member : plane.switches)
            member->scatter(plane.id);
}

void Fabric::flush_group(const ReductionGroup& group) {
    for (const ReductionPlane& plane : group.planes)
        for (Switch* member : plane.switches)
            member->flush_group(plane.id);
}

OptionalTime
Fabric::send(const ReductionGroup& group, std::uint32_t member, const Transfer& transfer) {
    const ReductionPlane& plane = group.planes[group.stripes[transfer.slot % group.stripes.size()]];
    const bool push = transfer.kind == PacketKind::kReducePush;
    Packet packet;
    packet.tag = transfer.tag;
    packet.tail = scheduler_.now().count();
    packet.payload = transfer.payload;
    packet.client = transfer.client;
    packet.values = transfer.values;
    packet.group = plane.id;
    packet.kind = transfer.kind;
    packet.route = push ? transfer.home : member;
    packet.count = 1;
    packet.lines = transfer.lines;
    if (group.sums != 1) [[unlikely]]
        packet.width = transfer.kind == PacketKind::kMulticastWrite ? group.sums : group.operands;
    return plane.uplinks[member]->send(
        packet, scheduler_.now(), nullptr, relays_[transfer.client].get());
}

}  // namespace switchfold
