// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Distribution of a group's ranks over machines. Members are positions in the group.
struct GroupLayout {
    std::vector<std::vector<std::uint32_t>> machines;  ///< their members, ascending
    std::vector<std::uint32_t> machine_of;             ///< by position
    /// Whether all machines have equally many members: member i of each is then on rail i.
    [[nodiscard]] bool even() const;
};
[[nodiscard]] GroupLayout
lay_out(const Topology& topology, const std::vector<std::uint32_t>& ranks);
/// All members as one machine: switches that reduce for all of them join several machines to one
/// domain.
[[nodiscard]] GroupLayout one_domain(std::uint32_t members);

/// The members of each rail, in machine order. \pre the layout is even.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> rails_across(const GroupLayout& layout);

/// Number of exits from the first machine: its network interfaces, or its members if they are fewer
/// and each has several.
[[nodiscard]] std::uint32_t rails_of(
    const Topology& topology, const std::vector<std::uint32_t>& ranks, const GroupLayout& layout);

/// Orders of positions for rings and, inside machines, for the chains of trees; channel c uses
/// order c mod size. One machine: every ring that its links allow, in both directions. Several
/// machines: one order per rail, so that the channels enter and leave each machine through all its
/// network interfaces in turn. Every other machine is traversed in reverse: data that leave through
/// interface i arrive through interface i, on the same rail (for this, NCCL graph/connect.cc swaps
/// the rings of channel pairs on odd nodes).
[[nodiscard]] std::vector<std::vector<std::uint32_t>> ring_orders(
    const Topology& topology, const std::vector<std::uint32_t>& ranks, const GroupLayout& layout);

/// Node `index` of a binary tree over 0..n-1; kNoParent for missing nodes.
struct BinaryTreeNode {
    std::uint32_t parent;
    bool second = false;  ///< whether it is its parent's second child
};
/// NCCL graph/trees.cc: ncclGetBtree (tree 0) and the mirrored or shifted tree of ncclGetDtree
/// (tree 1), in which the inner nodes of tree 0 are leaves.
[[nodiscard]] BinaryTreeNode double_binary_tree(std::uint32_t n, std::uint32_t index, int tree);

/// Parents, by position, in the trees of NCCL's tree all-reduce: one of the two binary trees
/// between machines; inside each machine a chain along the ring's order, whose first two members
/// hold the links to other machines (NCCL's balanced tree). Channel c uses tree c mod size;
/// adjacent entries are the two trees over one order.
[[nodiscard]] std::vector<std::vector<std::uint32_t>>
tree_parents(const GroupLayout& layout, const std::vector<std::vector<std::uint32_t>>& orders);

}  // namespace switchfold
