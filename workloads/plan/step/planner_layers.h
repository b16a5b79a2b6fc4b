// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/plan/partition/planner.h"
#include "workloads/plan/step/plan_step.h"

#include <vector>

namespace switchfold {

/// A network's layers as the planner of partitions sees them, a micro-batch of the plan.
[[nodiscard]] std::vector<PlannerLayer>
planner_layers(const Network& network, const KernelTimes& times, const ParallelPlan& plan);

/// Gives a plan the stages that the planner found, and their devices where any has several.
void use(const PlannedPipeline& found, ParallelPlan& plan);

}  // namespace switchfold
