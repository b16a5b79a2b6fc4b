// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/plan/average/average_plan.h"
#include "workloads/plan/step/plan_step.h"

#include <cstdint>

namespace switchfold {

/// What is wrong with averaging the replicas of a plan: the plan's key ("/average/every") and a
/// sentence.
[[nodiscard]] PlanProblems problems_of(const AveragePlan& average, const ParallelPlan& plan);

/// One period: `every` steps of each of so many replicas, one a GPU, and an exchange of their
/// weights in 32 bits, bucket by bucket as the plan says of gradients. `one` is the step of a
/// replica alone, with data 1. Where an exchange overlaps, it is that of the period before, and
/// its result comes in at the end.
[[nodiscard]] ExecutionGraph
averaged_steps(const PlannedStep& one, const AveragePlan& average, std::uint32_t replicas);

}  // namespace switchfold
