// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/kernel_times.h"
#include "workloads/memory/access/network_schedule.h"
#include "workloads/memory/update/gradient_groups.h"
#include "workloads/network/network.h"
#include "workloads/plan/step/parallel_plan.h"

#include <vector>

namespace switchfold {

/// One GPU's iteration of a plan that leaves the network whole, as planners of memory see it.
struct MemoryFacts {
    NetworkScheduleOptions options;
    std::vector<LayerTimes> times;    ///< by layer
    std::vector<UpdateLayer> layers;  ///< by layer
};

[[nodiscard]] MemoryFacts
memory_facts(const Network& network, const KernelTimes& times, const ParallelPlan& plan);

/// Bytes of an iteration with micro-batches of that size; nothing of it depends on times.
[[nodiscard]] NetworkScheduleOptions schedule_options(const ParallelPlan& plan);

}  // namespace switchfold
