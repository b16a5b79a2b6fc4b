// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// A set of at most 64 nodes: bit i is node i.
using NodeSet = std::uint64_t;
inline constexpr std::size_t kMostNodesOfSet = 64;

/// The down-sets of a graph: sets that contain all dependencies of their members. `needs[i]`: the
/// dependencies of node i, all below i. Sorted by size, from the empty set to the full one. Nothing
/// if there are more than `most`. A chain of n nodes has n + 1; parallel branches multiply. Throws
/// InternalError above 64 nodes.
[[nodiscard]] std::optional<std::vector<NodeSet>>
down_sets(const std::vector<NodeSet>& needs, std::size_t most);

}  // namespace switchfold
