// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/cut/cut_graph.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace switchfold {

inline constexpr std::uint32_t kMostExactNodes = 64;
inline constexpr std::uint32_t kMostExactParts = 8;
/// The programme looks at every pair of them.
inline constexpr std::size_t kMostDownSets = 10'000;

/// A division whose messages go one way: parts stand in an order in which none reads from a later
/// one, as the steps of a pipeline do, also where they stand beside each other in branches. Some
/// parts may stay empty.
struct ExactCut {
    NodeParts parts;
    double seconds = 0;  ///< of the busiest part
    /// No such division has a busiest part of less; `seconds`, if the search came to its end.
    double bound = 0;
    std::size_t down_sets = 0;
    [[nodiscard]] bool proven() const { return bound >= seconds; }
};

/// Why exact_cut() does not take the graph; empty if it does.
[[nodiscard]] std::string why_no_exact_cut(const CutGraph& graph);

/// The division whose busiest part is least busy (busiest()): a programme over down-sets, as
/// Tarnawski et al. (Efficient Algorithms for Device Placement of DNN Graph Operators, NeurIPS
/// 2020) divide for throughput. The programme counts an output that other parts read once, which is
/// a bound; it is exact where no output is read by two other parts, and a branch and bound over the
/// same down-sets, from the last part to the first, closes what is left. None if nothing fits in
/// memory. \pre why_no_exact_cut() finds nothing; parts have a GPU each or share one
[[nodiscard]] std::optional<ExactCut> exact_cut(const CutGraph& graph);

}  // namespace switchfold
