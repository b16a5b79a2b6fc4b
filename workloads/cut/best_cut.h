// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/cut/cut_choice.h"
#include "workloads/cut/cut_graph.h"

#include <cstddef>
#include <optional>

namespace switchfold {

/// A division that a method found, or that was given.
struct FoundCut {
    NodeParts parts;
    double seconds = 0;          ///< of the step, by schedule_tasks()
    double step_bound = 0;       ///< no division takes less
    double busiest = 0;          ///< seconds of its busiest part
    double busiest_bound = 0;    ///< exact: of the least busiest part, of messages one way; else 0
    std::size_t down_sets = 0;   ///< exact: that were looked at; else 0
    std::size_t estimates = 0;   ///< best: steps that were scheduled
    bool all_estimated = false;  ///< best: no move of neighbouring layers makes the step shorter
};

/// A division that is given.
[[nodiscard]] FoundCut judged_cut(const CutGraph& graph, NodeParts parts);

/// What a method finds; none if nothing fits in memory. \pre kExact: why_no_exact_cut() finds
/// nothing
[[nodiscard]] std::optional<FoundCut> find_cut(const CutGraph& graph, CutMethod method);

}  // namespace switchfold
