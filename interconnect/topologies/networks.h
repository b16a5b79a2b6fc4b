// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "interconnect/topology.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace switchfold {

/// An end of a network: a NIC, or a GPU attached to the network directly.
struct NetworkPort {
    std::uint32_t node = 0;
    std::uint32_t machine = 0;
    std::uint32_t rail = 0;  ///< index within its machine
};

/// One switch of sufficient size: only the ends' own links are shared.
struct SingleSwitchNetwork {
    static constexpr std::string_view kType = "switch";
    LinkParams link;
    SwitchParams node;

    static constexpr auto fields() {
        return list_of(
            field("link", &SingleSwitchNetwork::link, "The ends' links.").required(),
            field("switch", &SingleSwitchNetwork::node, "The switch.").required());
    }
    void check_ends(std::span<const NetworkPort> ends, ParamChecker& checker) const;
    void build(Topology& topology, std::span<const NetworkPort> ends) const;
};

/// Rail-optimised: NICs with the same index in all machines share a leaf switch; spines connect the
/// leaves. Where the ports of a spine do not suffice for all leaves, there are more spines with
/// fewer lanes to each leaf; where one lane is too many, groups of pods have spines of their own,
/// half of whose ports lead up to core switches: spine s of every group is joined to the same cores.
struct RailNetwork {
    static constexpr std::string_view kType = "rail";
    std::uint32_t machines_per_leaf = 32;
    std::uint32_t spines = 1;
    std::uint32_t lanes_to_spine = 1;
    std::uint32_t paths_per_pair = 16;
    LinkParams link;
    LinkParams spine_link;
    SwitchParams node;

    static constexpr auto fields() {
        return list_of(
            field(
                "machines_per_leaf", &RailNetwork::machines_per_leaf,
                "Machines that share the leaves of a pod.", 1U, 4096U),
            field(
                "spines", &RailNetwork::spines,
                "Spine switches; more where their ports do not suffice for all leaves "
                "(docs/systems.md#rail).",
                1U, 4096U),
            field(
                "lanes_to_spine", &RailNetwork::lanes_to_spine,
                "Lanes from each leaf to each spine.", 1U, 1024U),
            field(
                "paths_per_pair", &RailNetwork::paths_per_pair,
                "Paths over which a pair spreads its packets: 1 like hashed flows, more like "
                "adaptive routing.",
                1U, 256U),
            field("link", &RailNetwork::link, "The ends' links to the leaves.").required(),
            field("spine_link", &RailNetwork::spine_link, "The links between leaves and spines.")
                .required(),
            field("switch", &RailNetwork::node, "Leaves and spines.").required());
    }
    void check_ends(std::span<const NetworkPort> ends, ParamChecker& checker) const;
    void build(Topology& topology, std::span<const NetworkPort> ends) const;

    /// How pods are joined.
    struct Levels {
        std::uint32_t spines = 1;      ///< of a group
        std::uint32_t lanes = 1;       ///< from each leaf to each of them
        std::uint32_t pods = 1;        ///< of a group
        std::uint32_t groups = 1;      ///< 1: spines join all leaves
        std::uint32_t cores = 0;       ///< of the spines with one number in their groups
        std::uint32_t core_lanes = 0;  ///< from a spine to each of its cores
    };
    [[nodiscard]] Levels levels(std::uint32_t pods, std::uint32_t rails) const;
};

/// Folded Clos of equal switches with k ports. Two levels: every leaf has a link to every spine.
/// Three levels: pods of k/2 leaves, connected by core switches. A leaf has `oversubscription`
/// times as many ends as uplinks.
struct FatTreeNetwork {
    static constexpr std::string_view kType = "fat_tree";
    std::uint32_t levels = 2;
    std::uint32_t ports = 64;
    std::uint32_t oversubscription = 1;
    std::uint32_t paths_per_pair = 16;
    LinkParams link;
    LinkParams switch_link;
    SwitchParams node;

    static constexpr auto fields() {
        return list_of(
            field("levels", &FatTreeNetwork::levels, "Levels of switches.", 2U, 3U),
            field("ports", &FatTreeNetwork::ports, "Ports of a switch (k).", 2U, 4096U).required(),
            field(
                "oversubscription", &FatTreeNetwork::oversubscription,
                "Ratio of a leaf's ends to its uplinks.", 1U, 64U),
            field(
                "paths_per_pair", &FatTreeNetwork::paths_per_pair,
                "Paths over which a pair spreads its packets: 1 like hashed flows, more like "
                "adaptive routing.",
                1U, 256U),
            field("link", &FatTreeNetwork::link, "The ends' links to the leaves.").required(),
            field("switch_link", &FatTreeNetwork::switch_link, "The links between switches.")
                .required(),
            field("switch", &FatTreeNetwork::node, "The switches.").required());
    }
    void check(ParamChecker& checker) const;
    void check_ends(std::span<const NetworkPort> ends, ParamChecker& checker) const;
    void build(Topology& topology, std::span<const NetworkPort> ends) const;

    [[nodiscard]] std::uint32_t uplinks() const { return ports / (1 + oversubscription); }
    [[nodiscard]] std::uint32_t ends_per_leaf() const { return ports - uplinks(); }
    [[nodiscard]] std::uint64_t most_ends() const;

private:
    void build_pod(Topology& topology, std::uint32_t pod, std::span<const NetworkPort> ends) const;
};

/// Dragonfly+: groups of leaves and spines; each leaf connects to each spine of its group, and the
/// spines' global links are distributed evenly over the other groups. Routes are minimal.
struct DragonflyPlusNetwork {
    static constexpr std::string_view kType = "dragonfly_plus";
    std::uint32_t groups = 2;
    std::uint32_t leaves = 1;
    std::uint32_t spines = 1;
    std::uint32_t ends_per_leaf = 1;
    std::uint32_t global_links = 1;
    std::uint32_t paths_per_pair = 16;
    LinkParams link;
    LinkParams switch_link;
    LinkParams global_link;
    SwitchParams node;

    static constexpr auto fields() {
        return list_of(
            field("groups", &DragonflyPlusNetwork::groups, "Groups.", 2U, 1024U).required(),
            field("leaves", &DragonflyPlusNetwork::leaves, "Leaves of a group.", 1U, 256U)
                .required(),
            field("spines", &DragonflyPlusNetwork::spines, "Spines of a group.", 1U, 256U)
                .required(),
            field(
                "ends_per_leaf", &DragonflyPlusNetwork::ends_per_leaf, "Ends of a leaf.", 1U, 256U)
                .required(),
            field(
                "global_links", &DragonflyPlusNetwork::global_links,
                "Links of a spine to other groups.", 1U, 1024U)
                .required(),
            field(
                "paths_per_pair", &DragonflyPlusNetwork::paths_per_pair,
                "Paths over which a pair spreads its packets: 1 like hashed flows, more like "
                "adaptive routing.",
                1U, 256U),
            field("link", &DragonflyPlusNetwork::link, "The ends' links to the leaves.").required(),
            field(
                "switch_link", &DragonflyPlusNetwork::switch_link,
                "The links between leaves and spines.")
                .required(),
            field("global_link", &DragonflyPlusNetwork::global_link, "The links between groups.")
                .required(),
            field("switch", &DragonflyPlusNetwork::node, "The switches.").required());
    }
    void check(ParamChecker& checker) const;
    void check_ends(std::span<const NetworkPort> ends, ParamChecker& checker) const;
    void build(Topology& topology, std::span<const NetworkPort> ends) const;
};

using NetworkParams =
    std::variant<SingleSwitchNetwork, RailNetwork, FatTreeNetwork, DragonflyPlusNetwork>;

}  // namespace switchfold
