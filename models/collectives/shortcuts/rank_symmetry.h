// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "interconnect/topology.h"
#include "models/collectives/choice/group_layout.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace switchfold {

inline constexpr double kSmallFoldError = 0.005;

/// A collective simulated on a few of its ranks: if ranks do the same at the same time, one stands
/// for them. That is exact in so far as every link carries what one of the kept ranks' links
/// carries, or is far from its limit.
struct RankSymmetry {
    static constexpr std::uint32_t kIdle = UINT32_MAX;
    std::vector<std::uint32_t> image_of_rank;  ///< the kept rank that does the same
    std::vector<std::uint32_t> image_of_hop;   ///< by hop (hop.h): that with its traffic, or kIdle
    /// By hop: how many times that traffic passes over it; empty: once over each.
    std::vector<double> times_of_hop;
    /// By node, GPUs at their rank: the simulated one that it resembles, or kIdle. It does as much
    /// more as enters it over links.
    std::vector<std::uint32_t> image_of_node;
    double error = kSmallFoldError;    ///< share by which times may differ, as measured
    double typical = kSmallFoldError;  ///< mean of that share over sizes and machines

    /// Every rank stands for itself, and all links and nodes are idle.
    RankSymmetry(const Topology& topology, std::uint32_t ranks);
    [[nodiscard]] std::uint32_t ranks() const {
        return static_cast<std::uint32_t>(image_of_rank.size());
    }
    /// Ascending.
    [[nodiscard]] std::vector<std::uint32_t> kept() const;
    /// Sets an image, unless it has another value already. \returns whether it has this one.
    [[nodiscard]] static bool set(std::uint32_t& image, std::uint32_t value);
    /// The same for a hop and its reverse.
    [[nodiscard]] bool set_hop(std::uint32_t hop, std::uint32_t image);
};
/// Whether two hops are over links of one kind and number of lanes.
[[nodiscard]] bool same_link(const Topology& topology, std::uint32_t hop, std::uint32_t other);
/// And lead to nodes of one kind.
[[nodiscard]] bool alike(const Topology& topology, std::uint32_t hop, std::uint32_t other);

/// Rings: the kept ranks, 0 to k - 1, form shorter rings on the same machine, and their blocks make
/// as many steps as those of the whole rings. The fold with the fewest kept ranks, at least two and
/// at most half of them; nothing if the rings cannot be folded. Kept machines may be nearer to each
/// other than others are, as below one leaf, where that is nothing to the time of the shortest
/// collective, of which a ring has `bytes`. `rings`: orders of ranks 0 to `ranks` - 1; of several
/// groups that do the same, each of equally many ranks, all their rings.
[[nodiscard]] std::optional<RankSymmetry> fold_rings(
    const Topology& topology, std::uint32_t ranks,
    const std::vector<std::vector<std::uint32_t>>& rings, double bytes);

/// Every one of ranks 0 to n - 1 sends `bytes` to the next one: as a ring in this order. Nothing
/// where NICs and GPUs are not one to one: there it came out up to 3.4 % off.
[[nodiscard]] std::optional<RankSymmetry>
fold_shift(const Topology& topology, std::uint32_t ranks, Bytes bytes);

/// Trees over machines, with a chain in each (tree_fold.h): the first few members of each machine
/// are kept, at least three, so that neighbours are distinct, and at most half of them; nothing if
/// the trees cannot be folded. `trees`: parents of ranks 0 to n - 1.
[[nodiscard]] std::optional<RankSymmetry> fold_trees(
    const Topology& topology, const GroupLayout& layout,
    const std::vector<std::vector<std::uint32_t>>& trees);

/// Reductions in the switches of one domain of ranks 0 to n - 1: rank 0 is kept, and what the
/// switches fetch from and store to all ranks they fetch from and store to it, n times
/// (Fabric::create_folded_group). Nothing unless every switch attaches all ranks by equal links.
[[nodiscard]] std::optional<RankSymmetry>
fold_domain(const Topology& topology, std::uint32_t ranks);

/// Reductions in the switches of each machine, and between machines from head to head (member i of
/// one to member i of another): the first rank of each machine is kept. `between`: machines that
/// send to each other, as pairs of sender and receiver. Nothing unless each machine is such a
/// domain, of consecutive ranks, and the ways of all heads are alike. Heads that are simulated run
/// ahead of each other and fall back, and one that stands for all does not: hence the larger error,
/// which is smaller in long ones. `bytes`: of the shortest all-reduce.
[[nodiscard]] std::optional<RankSymmetry> fold_heads(
    const Topology& topology, const GroupLayout& layout,
    const std::vector<std::pair<std::uint32_t, std::uint32_t>>& between, Bytes bytes);

/// All-to-alls of equal parts among all GPUs of machines of one kind: a few machines are kept
/// (kept_machines.h), as few as the ways between machines allow. Links that fewer of them share
/// than share it in the whole, as those to the spines, have room to spare. Nothing if machines, or
/// ways between them, are not alike.
[[nodiscard]] std::optional<RankSymmetry>
fold_exchange(const Topology& topology, const GroupLayout& layout);

/// Whether one NIC is nearest to each GPU.
[[nodiscard]] bool one_nic_each(const Topology& topology);

}  // namespace switchfold
