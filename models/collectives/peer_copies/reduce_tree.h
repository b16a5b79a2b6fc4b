// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/peer_copies/program.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Share of a pair's bytes that one direction of a link carries.
struct LinkUse {
    std::uint32_t link = 0;
    double share = 1;  ///< of the bytes; below 1 if the pair has several routes
};

/// The links between the members of a group.
struct Wiring {
    std::uint32_t members = 0;
    std::vector<double> rates;               ///< bytes per second, by link
    std::vector<std::vector<LinkUse>> ways;  ///< for members i and j: i * members + j
    [[nodiscard]] const std::vector<LinkUse>& way(std::uint32_t from, std::uint32_t to) const {
        return ways[std::size_t{from} * members + to];
    }
};

/// A tree over all members; sums go up it and down the same way.
struct FoundTree {
    ReduceTree parents;
    double load =
        0;  ///< seconds per byte of the array on the busiest link, both directions counted
    std::uint32_t depth = 0;  ///< copies from the farthest member to the root
    double bound = 0;         ///< lower bound on any tree's load
    bool proved = false;      ///< no tree has less load, or equal load and less depth
};

/// The tree with the least load; ties are broken by depth from its root, then by the total load on
/// all links. `loaded`: existing load of each link in seconds per byte. The search is exact for up
/// to 16 members within `most_steps`; otherwise it returns the best tree found.
[[nodiscard]] FoundTree find_tree(
    const Wiring& wiring, std::uint32_t root, const std::vector<double>& loaded,
    std::uint64_t most_steps = 200'000);

/// Most members for which trees are searched.
inline constexpr std::uint32_t kMostSearched = 16;

/// `count` trees with different roots, each found given the load of the earlier ones.
[[nodiscard]] std::vector<FoundTree> find_trees(const Wiring& wiring, std::uint32_t count);

/// Adds a tree's load (seconds per byte) to each link.
void add_load(const Wiring& wiring, const ReduceTree& parents, std::vector<double>& loaded);

}  // namespace switchfold
