// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/access/network_schedule.h"
#include "training/memory/update/gradient_groups.h"
#include "training/network/network.h"
#include "training/plan/step/parallel_plan.h"
#include "workloads/kernels/kernel_times.h"

#include <vector>

namespace switchfold {

/// One GPU's iteration of a plan that does not cut the network, as seen by memory planners.
struct MemoryFacts {
    Network held;  ///< rank_network()
    NetworkScheduleOptions options;
    std::vector<LayerTimes> times;    ///< by layer
    std::vector<UpdateLayer> layers;  ///< by layer
};

[[nodiscard]] MemoryFacts
memory_facts(const Network& network, const KernelTimes& times, const ParallelPlan& plan);

/// Sizes of an iteration with the plan's micro-batches, independent of times.
[[nodiscard]] NetworkScheduleOptions
schedule_options(const Network& network, const ParallelPlan& plan);

/// The plan with layers that are computed again as steps of their own, not within backward.
[[nodiscard]] ParallelPlan without_recompute(ParallelPlan plan);

}  // namespace switchfold
