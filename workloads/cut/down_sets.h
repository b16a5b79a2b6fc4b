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

/// The down-sets of a graph: sets that hold with every node all that it needs. `needs[i]`: the
/// nodes that node i needs, all below i. Ascending by their size, the empty one first, the whole
/// one last. None if there are more than `most`. A chain of n has n + 1, branches beside each other
/// multiply. Throws InternalError beyond 64 nodes.
[[nodiscard]] std::optional<std::vector<NodeSet>>
down_sets(const std::vector<NodeSet>& needs, std::size_t most);

}  // namespace switchfold
