// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/placement/placement_tasks.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Begin of every task of a division, with messages overlapping kernels.
struct TaskSchedule {
    std::vector<double> start;         ///< seconds, by task
    std::vector<std::uint32_t> order;  ///< all tasks by start, each after its dependencies
    double seconds = 0;                ///< of the step, including updates
};

/// List scheduling of a division: a free part takes the ready task with the longest path to the end
/// of the step, including gradient reductions among replicas. Weight gradients that are reduced run
/// right after their input gradients. Messages between two GPUs are sequential; kernels of parts
/// that share a GPU do not slow each other here.
[[nodiscard]] TaskSchedule
schedule_tasks(const PlacementGraph& graph, const PlacementTasks& tasks, const NodeParts& parts);

}  // namespace switchfold
