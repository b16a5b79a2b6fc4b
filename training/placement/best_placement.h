// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/placement/placement_choice.h"
#include "training/placement/placement_graph.h"

#include <cstddef>
#include <optional>

namespace switchfold {

/// A division found by a method, or given by the user.
struct FoundPlacement {
    NodeParts parts;
    double seconds = 0;     ///< of the step, from schedule_tasks()
    double step_bound = 0;  ///< lower bound on any division's step
    double busiest = 0;     ///< seconds of its busiest part
    double busiest_bound =
        0;  ///< exact: lower bound on the busiest part, for one-way messages; else 0
    std::size_t down_sets = 0;   ///< exact: number examined; else 0
    std::size_t estimates = 0;   ///< best: number of steps scheduled
    bool all_estimated = false;  ///< best: no move of consecutive layers makes the step shorter
};

/// Evaluates a given division.
[[nodiscard]] FoundPlacement judged_placement(const PlacementGraph& graph, NodeParts parts);

/// The division found by a method; nothing if none fits in memory. \pre kExact:
/// why_no_exact_placement() is empty
[[nodiscard]] std::optional<FoundPlacement>
find_placement(const PlacementGraph& graph, PlacementMethod method);

}  // namespace switchfold
