// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/peer_copies/program.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// What one direction of a link carries of what a pair sends.
struct LinkUse {
    std::uint32_t link = 0;
    double share = 1;  ///< of the bytes; below 1 where the pair has several ways
};

/// The links between the members of a group.
struct Wiring {
    std::uint32_t members = 0;
    std::vector<double> rates;               ///< bytes a second, by link
    std::vector<std::vector<LinkUse>> ways;  ///< from member i to j: i * members + j
    [[nodiscard]] const std::vector<LinkUse>& way(std::uint32_t from, std::uint32_t to) const {
        return ways[std::size_t{from} * members + to];
    }
};

/// A tree over all members, down which sums go the way they came up.
struct FoundTree {
    ReduceTree parents;
    double load = 0;          ///< seconds a byte of the array on the busiest link, both ways passed
    std::uint32_t depth = 0;  ///< copies from the farthest member to the root
    double bound = 0;         ///< no tree's load is below it
    bool proved = false;      ///< no tree has less load, nor as much and less depth
};

/// The tree of least load, among those one of least depth from its root, and among those one that
/// takes least of all links together. `loaded`: seconds a byte
/// that each link carries already. The search is exact for up to 16 members as long as it takes no
/// more than `most_steps`; beyond that it is the best tree of those that it has seen.
[[nodiscard]] FoundTree find_tree(
    const Wiring& wiring,
    std::uint32_t root,
    const std::vector<double>& loaded,
    std::uint64_t most_steps = 200'000);

/// The most members that trees are searched for.
inline constexpr std::uint32_t kMostSearched = 16;

/// So many trees, each with another root and found with what the earlier ones load the links.
[[nodiscard]] std::vector<FoundTree> find_trees(const Wiring& wiring, std::uint32_t count);

/// Seconds a byte that a tree adds to each link.
void add_load(const Wiring& wiring, const ReduceTree& parents, std::vector<double>& loaded);

}  // namespace switchfold
