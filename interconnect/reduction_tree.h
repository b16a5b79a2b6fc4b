// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace switchfold {

/// How one switch serves a group: its place in a tree whose leaves are the members. Hops are
/// those of hop.h.
struct ReductionTreeNode {
    static constexpr std::uint32_t kNone = UINT32_MAX;
    std::uint32_t node = 0;
    std::uint32_t up = kNone;            ///< hop towards the root; kNone at the root
    std::vector<std::uint32_t> down;     ///< hops to the children
    std::vector<std::uint32_t> towards;  ///< by member: the hop that leads to it, or kNone
    std::uint32_t leaves = 0;            ///< members beneath
    std::uint32_t answers = 0;           ///< that a fetch sent to all children brings back
    bool reduces = true;                 ///< false: passes operands on, as a NIC does
};

/// One way to reduce over a group: every member's operands meet at the first node.
struct ReductionTree {
    std::vector<ReductionTreeNode> nodes;  ///< the root first
    std::vector<std::uint32_t> uplinks;    ///< by member: its first hop
    std::uint32_t weight = 1;              ///< fewest lanes on the way
};

/// All trees of least height, whose traffic is striped over them: one a switch where every member
/// hangs on the same switches, one a spine of a fat tree. Empty if there is none; then `why_not`
/// says why.
struct ReductionPlan {
    std::vector<ReductionTree> trees;
    std::string why_not;
};
[[nodiscard]] ReductionPlan
plan_reduction(const Topology& topology, std::span<const std::uint32_t> ranks);

/// Why the switches cannot reduce or multicast over these ranks; empty if they can.
[[nodiscard]] std::string
why_no_reduction(const Topology& topology, std::span<const std::uint32_t> ranks);

}  // namespace switchfold
