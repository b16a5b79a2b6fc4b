// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/cut/cut_tasks.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// When every task of a division would run, with messages beside the kernels.
struct TaskSchedule {
    std::vector<double> start;         ///< seconds, by task
    std::vector<std::uint32_t> order;  ///< all tasks as they start; those that one needs before it
    double seconds = 0;                ///< of the step, with its updates
};

/// List scheduling of a division: a part that is free takes the task, of those that have what they
/// need, with the longest way to the end of the step, gradients' travel to replicas with it; weight
/// gradients that travel come right behind those of their inputs. Messages from one GPU to another
/// follow each other; kernels of parts that share a GPU do not slow each other here.
[[nodiscard]] TaskSchedule
schedule_tasks(const CutGraph& graph, const CutTasks& tasks, const NodeParts& parts);

}  // namespace switchfold
