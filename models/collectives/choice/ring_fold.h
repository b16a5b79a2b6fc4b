// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// Rings simulated on a few of their ranks. If all ranks do the same at the same time, rank r does
/// what rank r mod `kept` does. The kept ranks form shorter rings on the same machine, and their
/// blocks make as many steps as those of the whole rings. That is exact in so far as every link of
/// the whole rings carries what one link of the shorter rings carries.
struct RingFold {
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

/// The fold with the fewest kept ranks, at least two and at most half of them; nothing if the rings
/// cannot be folded. `rings`: orders of ranks 0 to n - 1 (group_layout.h).
[[nodiscard]] std::optional<RingFold>
fold_rings(const Topology& topology, const std::vector<std::vector<std::uint32_t>>& rings);

}  // namespace switchfold
