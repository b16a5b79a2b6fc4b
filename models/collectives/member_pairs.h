// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <utility>

namespace switchfold {

struct CollectiveSpec;

/// Pairs of ranks between which a collective's data go, the lower rank first.
using MemberPairs = std::set<std::pair<std::uint32_t, std::uint32_t>>;

/// Neighbours in any of its rings.
[[nodiscard]] MemberPairs ring_neighbours(const CollectiveSpec& spec);
/// Children and their parents in any of its trees.
[[nodiscard]] MemberPairs tree_neighbours(const CollectiveSpec& spec);
[[nodiscard]] MemberPairs all_pairs(const CollectiveSpec& spec);

}  // namespace switchfold
