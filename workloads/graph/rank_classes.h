// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace switchfold {

/// By rank, the first of those that it is like: both have groups in each orbit that hold as many
/// ranks of each class. `first`: by rank, a number that is different for ranks that differ of
/// themselves. `orbits`: disjoint groups, of which each rank is in one at most.
[[nodiscard]] std::vector<std::uint32_t> rank_classes(
    const std::vector<std::vector<std::vector<std::uint32_t>>>& orbits,
    std::vector<std::uint32_t> first);

/// By rank, how many the first of each class stands for; 0: it is not the first.
[[nodiscard]] std::vector<std::uint32_t> class_sizes(const std::vector<std::uint32_t>& classes);

}  // namespace switchfold
