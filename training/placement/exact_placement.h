// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/placement/placement_graph.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace switchfold {

inline constexpr std::uint32_t kMostExactNodes = 64;
inline constexpr std::uint32_t kMostExactParts = 8;
/// Limit, because the algorithm examines every pair of down-sets.
inline constexpr std::size_t kMostDownSets = 10'000;

/// A division with one-way messages: parts are ordered so that none reads from a later one, as in a
/// pipeline, even for parts on parallel branches. Some parts may be empty.
struct ExactPlacement {
    NodeParts parts;
    double seconds = 0;  ///< of the busiest part
    /// Lower bound on the busiest part of any such division; equals `seconds` if the search
    /// finished.
    double bound = 0;
    std::size_t down_sets = 0;
    [[nodiscard]] bool proven() const { return bound >= seconds; }
};

/// Reason why exact_placement() does not accept the graph; empty if it does.
[[nodiscard]] std::string why_no_exact_placement(const PlacementGraph& graph);

/// The division whose busiest part is least busy (busiest()), by dynamic programming over
/// down-sets, as Tarnawski et al. (Efficient Algorithms for Device Placement of DNN Graph
/// Operators, NeurIPS 2020) divide for throughput. The dynamic programme counts an output read by
/// several parts once, which gives a lower bound; it is exact if no output is read by two other
/// parts. Otherwise a branch and bound over the same down-sets, from the last part to the first,
/// closes the gap. Nothing if no division fits in memory. \pre why_no_exact_placement() is empty;
/// each part has its own GPU or all share one
[[nodiscard]] std::optional<ExactPlacement> exact_placement(const PlacementGraph& graph);

}  // namespace switchfold
