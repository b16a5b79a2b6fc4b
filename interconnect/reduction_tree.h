// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace switchfold {

/// A switch's place in a group's tree, whose leaves are the members. Hops as in hop.h.
struct ReductionTreeNode {
    static constexpr std::uint32_t kNone = UINT32_MAX;
    std::uint32_t node = 0;
    std::uint32_t up = kNone;            ///< hop towards the root; kNone at the root
    std::vector<std::uint32_t> down;     ///< hops to the children
    std::vector<std::uint32_t> towards;  ///< by member: the hop towards it, or kNone
    std::uint32_t leaves = 0;            ///< members below
    std::uint32_t answers = 0;           ///< number of answers to a fetch sent to all children
    bool reduces = true;                 ///< false: forwards operands, as a NIC does
};

/// One tree of a group: every member's operands meet at its first node.
struct ReductionTree {
    std::vector<ReductionTreeNode> nodes;  ///< root first
    std::vector<std::uint32_t> uplinks;    ///< by member: its first hop
    std::uint32_t weight = 1;              ///< fewest lanes along a path
};

/// All trees of minimum height; traffic is striped over them. One per switch if every member is
/// attached to the same switches, one per spine of a fat tree. Empty if there is none, with the
/// reason in `why_not`.
struct ReductionPlan {
    std::vector<ReductionTree> trees;
    std::string why_not;
};
[[nodiscard]] ReductionPlan
plan_reduction(const Topology& topology, std::span<const std::uint32_t> ranks);

/// Reason why switches cannot reduce or multicast for these ranks; empty if they can.
[[nodiscard]] std::string
why_no_reduction(const Topology& topology, std::span<const std::uint32_t> ranks);

}  // namespace switchfold
