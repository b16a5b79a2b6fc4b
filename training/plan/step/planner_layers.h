// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/partition/planner.h"
#include "training/plan/step/plan_step.h"

#include <vector>

namespace switchfold {

/// A network's layers as the partition planner sees them, for one of the plan's micro-batches.
[[nodiscard]] std::vector<PlannerLayer>
planner_layers(const Network& network, const KernelTimes& times, const ParallelPlan& plan);

/// Sets a plan's stages, and their replicas if any stage has several, to those that the planner
/// found.
void use(const PlannedPipeline& found, ParallelPlan& plan);

}  // namespace switchfold
