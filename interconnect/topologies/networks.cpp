// SPDX-License-Identifier: Apache-2.0
#include "interconnect/topologies/networks.h"

#include "core/error.h"
#include "interconnect/topologies/build.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

namespace {

std::uint32_t add_switch(Topology& topology, std::string name, std::uint32_t switch_class) {
    return add_node(topology, NodeKind::kSwitch, std::move(name), switch_class, kNoMachine);
}

void refuse_surplus(
    std::uint64_t ends, std::uint64_t most, std::string_view by, ParamChecker& checker) {
    if (ends > most)
        checker.error(
            "", fmt::format(
                    "joins at most {} ends; expected room for the {} there are, by {}", most, ends,
                    by));
}

/// The network alone, so that ports are counted without its ends' other links.
Topology alone(std::span<const NetworkPort> ends) {
    Topology topology;
    for (std::size_t i = 0; i < ends.size(); ++i)
        add_node(topology, NodeKind::kGpu, "end", 0, 0);
    return topology;
}

/// `or_else`: what else than ports mends a switch that has too few.
template <class Network>
void check_switch(
    const Network& network, std::span<const NetworkPort> ends, std::string_view or_else,
    ParamChecker& checker) {
    Topology topology = alone(ends);
    std::vector<NetworkPort> renumbered(ends.begin(), ends.end());
    for (std::uint32_t i = 0; i < renumbered.size(); ++i)
        renumbered[i].node = i;
    network.build(topology, renumbered);
    ParamChecker of_ports;
    check_ports(topology, of_ports, {"/switch"});
    for (const auto& [pointer, message] : of_ports.found())
        checker.error(pointer, fmt::format("{}, or {}", message, or_else));
}

/// Pods of so many machines, and NICs of a machine.
std::pair<std::uint32_t, std::uint32_t>
extent_of(std::span<const NetworkPort> ends, std::uint32_t machines) {
    std::pair<std::uint32_t, std::uint32_t> extent{0, 0};
    for (const NetworkPort& end : ends) {
        extent.first = std::max(extent.first, end.machine / machines + 1);
        extent.second = std::max(extent.second, end.rail + 1);
    }
    return extent;
}

}  // namespace

void SingleSwitchNetwork::check_ends(
    std::span<const NetworkPort> ends, ParamChecker& checker) const {
    check_switch(*this, ends, "a network of type rail or fat_tree", checker);
}

void SingleSwitchNetwork::build(Topology& topology, std::span<const NetworkPort> ends) const {
    const std::uint32_t wire = add_link_class(topology, link);
    const std::uint32_t centre = add_switch(topology, "network", add_switch_class(topology, node));
    for (const NetworkPort& end : ends)
        join(topology, end.node, centre, 1, wire);
}

void RailNetwork::check_ends(std::span<const NetworkPort> ends, ParamChecker& checker) const {
    const auto [pods, rails] = extent_of(ends, machines_per_leaf);
    const Levels made = levels(pods, rails);
    const std::uint64_t most =
        std::uint64_t{node.ports.value_or(0)} * made.pods * machines_per_leaf;
    check_switch(
        *this, ends,
        made.groups > 1 ? fmt::format("at most {} machines", most)
                        : "fewer machines_per_leaf, spines or lanes_to_spine",
        checker);
}

void RailNetwork::build(Topology& topology, std::span<const NetworkPort> ends) const {
    const std::uint32_t wire = add_link_class(topology, link);
    const std::uint32_t trunk = add_link_class(topology, spine_link);
    const std::uint32_t kind = add_switch_class(topology, node);
    topology.paths_per_pair = paths_per_pair;
    const auto [pods, rails] = extent_of(ends, machines_per_leaf);
    const auto first_leaf = static_cast<std::uint32_t>(topology.nodes.size());
    for (std::uint32_t pod = 0; pod < pods; ++pod)
        for (std::uint32_t rail = 0; rail < rails; ++rail)
            add_switch(topology, fmt::format("pod{}_leaf{}", pod, rail), kind);
    for (const NetworkPort& end : ends)
        join(
            topology, end.node, first_leaf + end.machine / machines_per_leaf * rails + end.rail, 1,
            wire);
    const Levels made = levels(pods, rails);
    const auto first_spine = static_cast<std::uint32_t>(topology.nodes.size());
    for (std::uint32_t group = 0; group < made.groups; ++group) {
        const std::string prefix = made.groups == 1 ? "" : fmt::format("group{}_", group);
        const std::uint32_t begin = group * made.pods * rails;
        const std::uint32_t end = std::min(begin + made.pods * rails, pods * rails);
        for (std::uint32_t s = 0; s < made.spines; ++s) {
            const std::uint32_t spine =
                add_switch(topology, fmt::format("{}spine{}", prefix, s), kind);
            for (std::uint32_t leaf = begin; leaf < end; ++leaf)
                join(topology, first_leaf + leaf, spine, made.lanes, trunk);
        }
    }
    for (std::uint32_t s = 0; s < made.spines; ++s)
        for (std::uint32_t c = 0; c < made.cores; ++c) {
            const std::uint32_t core =
                add_switch(topology, fmt::format("core{}", s * made.cores + c), kind);
            for (std::uint32_t group = 0; group < made.groups; ++group)
                join(topology, first_spine + group * made.spines + s, core, made.core_lanes, trunk);
        }
}

RailNetwork::Levels RailNetwork::levels(std::uint32_t pods, std::uint32_t rails) const {
    Levels made{spines, lanes_to_spine, pods, 1, 0, 0};
    const std::uint64_t leaves = std::uint64_t{pods} * rails;
    if (!node.ports || leaves * lanes_to_spine <= *node.ports)
        return made;
    for (Levels wider = made; wider.lanes % 2 == 0;) {
        wider.lanes /= 2;
        wider.spines *= 2;
        if (leaves * wider.lanes <= *node.ports)
            return wider;
    }
    const std::uint32_t of_pod = rails * lanes_to_spine;  // a spine's lanes
    made.pods = std::max(1U, *node.ports / 2 / of_pod);
    // As many lanes up as down, as far as there are ports.
    const std::uint32_t down = made.pods * of_pod;
    const std::uint32_t up = std::min(down, *node.ports - std::min(down, *node.ports));
    if (up == 0)
        return {spines, lanes_to_spine, pods, 1, 0, 0};  // one pod takes all: check_ends() says so
    made.groups = (pods + made.pods - 1) / made.pods;
    made.core_lanes = std::clamp(*node.ports / made.groups, 1U, up);
    while (up % made.core_lanes != 0)
        --made.core_lanes;
    made.cores = up / made.core_lanes;
    return made;
}

void FatTreeNetwork::check(ParamChecker& checker) const {
    if (ports % (1 + oversubscription) != 0)
        checker.error(
            "/oversubscription",
            fmt::format(
                "is {}, which does not divide {} ports; expected 1 + it to divide them",
                oversubscription, ports));
    if (levels == 3 && ports % 2 != 0)
        checker.error(
            "/ports", fmt::format("is {}; expected an even number with three levels", ports));
}

std::uint64_t FatTreeNetwork::most_ends() const {
    const std::uint64_t leaves = levels == 2 ? ports : std::uint64_t{ports} * (ports / 2);
    return leaves * ends_per_leaf();
}

void FatTreeNetwork::check_ends(std::span<const NetworkPort> ends, ParamChecker& checker) const {
    if (uplinks() > 0)
        refuse_surplus(
            ends.size(), most_ends(),
            levels == 2 ? "more ports or levels 3" : "more ports or fewer machines", checker);
    if (checker.found().empty())
        check_switch(*this, ends, "ports of the network no larger", checker);
}

void FatTreeNetwork::build_pod(
    Topology& topology, std::uint32_t pod, std::span<const NetworkPort> ends) const {
    // Two link classes and one switch class were added last.
    const auto trunk = static_cast<std::uint32_t>(topology.links.size() - 1);
    const std::uint32_t wire = trunk - 1;
    const auto kind = static_cast<std::uint32_t>(topology.switches.size() - 1);
    const std::string prefix = levels == 2 ? "" : fmt::format("pod{}_", pod);
    const auto leaves =
        static_cast<std::uint32_t>((ends.size() + ends_per_leaf() - 1) / ends_per_leaf());
    const auto first = static_cast<std::uint32_t>(topology.nodes.size());
    for (std::uint32_t i = 0; i < leaves; ++i)
        add_switch(topology, fmt::format("{}leaf{}", prefix, i), kind);
    for (std::uint32_t i = 0; i < ends.size(); ++i)
        join(topology, ends[i].node, first + i / ends_per_leaf(), 1, wire);
    for (std::uint32_t s = 0; s < uplinks(); ++s) {
        const std::uint32_t spine = add_switch(topology, fmt::format("{}spine{}", prefix, s), kind);
        for (std::uint32_t i = 0; i < leaves; ++i)
            join(topology, first + i, spine, 1, trunk);
    }
}

void FatTreeNetwork::build(Topology& topology, std::span<const NetworkPort> ends) const {
    topology.paths_per_pair = paths_per_pair;
    add_link_class(topology, link);
    const std::uint32_t trunk = add_link_class(topology, switch_link);
    const std::uint32_t kind = add_switch_class(topology, node);
    if (levels == 2) {
        build_pod(topology, 0, ends);
        return;
    }
    const std::size_t pod_ends = std::size_t{ports / 2} * ends_per_leaf();
    std::vector<std::uint32_t> spines;  // of all pods, uplinks() per pod
    for (std::uint32_t pod = 0; pod * pod_ends < ends.size(); ++pod) {
        const auto rest = ends.subspan(pod * pod_ends);
        build_pod(topology, pod, rest.first(std::min(pod_ends, rest.size())));
        for (std::uint32_t s = uplinks(); s > 0; --s)
            spines.push_back(static_cast<std::uint32_t>(topology.nodes.size()) - s);
    }
    // Spine s of every pod connects to the same k/2 core switches.
    for (std::uint32_t s = 0; s < uplinks(); ++s)
        for (std::uint32_t c = 0; c < ports / 2; ++c) {
            const std::uint32_t core =
                add_switch(topology, fmt::format("core{}", s * (ports / 2) + c), kind);
            for (std::size_t i = s; i < spines.size(); i += uplinks())
                join(topology, spines[i], core, 1, trunk);
        }
}

void DragonflyPlusNetwork::check(ParamChecker& checker) const {
    if (spines * global_links % (groups - 1) != 0)
        checker.error(
            "/global_links",
            fmt::format(
                "gives a group {} links for {} other groups; expected the same number for each",
                spines * global_links, groups - 1));
}

void DragonflyPlusNetwork::check_ends(
    std::span<const NetworkPort> ends, ParamChecker& checker) const {
    refuse_surplus(
        ends.size(), std::uint64_t{groups} * leaves * ends_per_leaf,
        "more groups, leaves or ends_per_leaf", checker);
    if (checker.found().empty())
        check_switch(*this, ends, "fewer leaves, spines, ends_per_leaf or global_links", checker);
}

void DragonflyPlusNetwork::build(Topology& topology, std::span<const NetworkPort> ends) const {
    SWITCHFOLD_CHECK(
        groups > 1 && leaves > 0 && ends_per_leaf > 0, "a network that no file can say");
    topology.paths_per_pair = paths_per_pair;
    const std::uint32_t wire = add_link_class(topology, link);
    const std::uint32_t trunk = add_link_class(topology, switch_link);
    const std::uint32_t global = add_link_class(topology, global_link);
    const std::uint32_t kind = add_switch_class(topology, node);
    const auto first = static_cast<std::uint32_t>(topology.nodes.size());
    const std::uint32_t size = leaves + spines;
    for (std::uint32_t g = 0; g < groups; ++g) {
        for (std::uint32_t l = 0; l < leaves; ++l)
            add_switch(topology, fmt::format("group{}_leaf{}", g, l), kind);
        for (std::uint32_t s = 0; s < spines; ++s) {
            const std::uint32_t spine =
                add_switch(topology, fmt::format("group{}_spine{}", g, s), kind);
            for (std::uint32_t l = 0; l < leaves; ++l)
                join(topology, first + g * size + l, spine, 1, trunk);
        }
    }
    for (std::uint32_t i = 0; i < ends.size(); ++i) {
        const std::uint32_t leaf = i / ends_per_leaf;
        join(topology, ends[i].node, first + leaf / leaves * size + leaf % leaves, 1, wire);
    }
    // A group's global links lead to the following groups in turn; numbers are relative to each
    // group.
    const std::uint32_t each = spines * global_links / (groups - 1);
    for (std::uint32_t turn = 0; turn < each; ++turn)
        for (std::uint32_t a = 0; a < groups; ++a)
            for (std::uint32_t b = a + 1; b < groups; ++b) {
                const std::uint32_t from_a = (turn * (groups - 1) + b - 1) / global_links;
                const std::uint32_t from_b = (turn * (groups - 1) + a) / global_links;
                join(
                    topology, first + a * size + leaves + from_a,
                    first + b * size + leaves + from_b, 1, global);
            }
}

}  // namespace switchfold
