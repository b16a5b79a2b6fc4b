// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// How a group's ranks are spread over machines. Members are positions in the group.
struct GroupLayout {
    std::vector<std::vector<std::uint32_t>> machines;  ///< members of each, ascending
    std::vector<std::uint32_t> machine_of;             ///< by position
    /// All machines hold the same number of members: member i of each is on rail i.
    [[nodiscard]] bool even() const;
};
[[nodiscard]] GroupLayout
lay_out(const Topology& topology, const std::vector<std::uint32_t>& ranks);

/// The members of each rail, in the order of the machines; of an even layout.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> rails_across(const GroupLayout& layout);

/// Ways out of the first machine: its network interfaces, or its members if they are fewer and each
/// has several.
[[nodiscard]] std::uint32_t rails_of(
    const Topology& topology, const std::vector<std::uint32_t>& ranks, const GroupLayout& layout);

/// Orders of positions along which rings, and inside machines the chains of trees, run; channel c
/// takes order c mod size. One machine: every ring that its wires allow, both ways round. Several:
/// an order a rail, so that the channels enter and leave each machine by all its network
/// interfaces in turn. Every other machine is passed the other way round: data that leaves
/// by interface i comes in by interface i, on the same rail (NCCL graph/connect.cc exchanges the
/// rings of channel pairs on odd nodes for that).
[[nodiscard]] std::vector<std::vector<std::uint32_t>> ring_orders(
    const Topology& topology, const std::vector<std::uint32_t>& ranks, const GroupLayout& layout);

/// Node `index` of a binary tree over 0..n-1; kNoParent where there is none.
struct BinaryTreeNode {
    std::uint32_t parent;
    bool second = false;  ///< it is its parent's second child
};
/// NCCL graph/trees.cc: ncclGetBtree (tree 0) and the mirrored or shifted tree of ncclGetDtree
/// (tree 1), in which the inner nodes of tree 0 are leaves.
[[nodiscard]] BinaryTreeNode double_binary_tree(std::uint32_t n, std::uint32_t index, int tree);

/// Parents, by position, of the trees of NCCL's tree all-reduce: across machines one of the two
/// binary trees, inside each a chain along the ring's order, whose first two members hold the links
/// to other machines (NCCL's balanced tree). Channel c takes tree c mod size; neighbours in that
/// list are the two trees over one order.
[[nodiscard]] std::vector<std::vector<std::uint32_t>>
tree_parents(const GroupLayout& layout, const std::vector<std::vector<std::uint32_t>>& orders);

}  // namespace switchfold
