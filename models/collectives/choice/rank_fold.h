// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// A collective simulated on a few of its ranks. If all ranks do the same at the same time, rank r
/// does what rank r mod `kept` does. That is exact in so far as every link carries what one of the
/// kept ranks' links carries.
struct RankFold {
    static constexpr std::uint32_t kIdle = UINT32_MAX;
    /// The simulated node that a node resembles, and how many times its traffic passes through it.
    struct NodeImage {
        std::uint32_t node = kIdle;
        std::uint32_t times = 0;
    };
    std::uint32_t ranks = 0;
    std::uint32_t kept = 0;
    std::vector<std::uint32_t> image_of_hop;  ///< by hop (hop.h): that with its traffic, or kIdle
    std::vector<NodeImage> image_of_node;     ///< by node; GPUs stand at their rank
};

/// Rings: the kept ranks form shorter rings on the same machine, and their blocks make as many
/// steps as those of the whole rings. The fold with the fewest kept ranks, at least two and at most
/// half of them; nothing if the rings cannot be folded. `rings`: orders of ranks 0 to n - 1
/// (group_layout.h).
[[nodiscard]] std::optional<RankFold>
fold_rings(const Topology& topology, const std::vector<std::vector<std::uint32_t>>& rings);

/// Reductions in the switches of one domain of ranks 0 to n - 1: one rank is kept, and what the
/// switches fetch from and store to all ranks they fetch from and store to it, n times
/// (Fabric::create_folded_group). Nothing unless every rank is attached to every switch by equal
/// links.
[[nodiscard]] std::optional<RankFold> fold_domain(const Topology& topology, std::uint32_t ranks);

}  // namespace switchfold
