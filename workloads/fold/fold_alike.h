// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/fold/folded_graph.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// A graph in which only some ranks have operations, and all others do what one of them does: they
/// represent the others. `orbits`: groups that are the same group of other ranks, as of Spread.
/// `machine` and `ways`: as of GroupOrbits.
[[nodiscard]] FoldedGraph fold_alike(
    ExecutionGraph graph, const std::vector<std::vector<std::uint32_t>>& orbits,
    std::uint32_t machine, std::vector<std::uint32_t> ways);

}  // namespace switchfold
