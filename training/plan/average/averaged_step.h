// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/average/average_plan.h"
#include "training/plan/step/plan_step.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Reasons why a plan's replicas cannot be averaged: the plan's key ("/average/every") and a
/// sentence.
[[nodiscard]] PlanProblems problems_of(const AveragePlan& average, const ParallelPlan& plan);

/// The step of a replica that trains apart.
struct ReplicaApart {
    std::vector<const PlannedStep*> by_rank;  ///< of the replica; plans with data 1
    ExecutionGraph step;                      ///< its operations
    std::uint32_t replicas = 1;               ///< consecutive replicas of which it is the step
};

/// One period: `every` steps of each replica, and an exchange of their weights in 32 bits, in
/// buckets as the plan's gradients, among the ranks that hold the same part. The first step states
/// the plan. An overlapping exchange is that of the previous period; its result is applied at the
/// end.
[[nodiscard]] ExecutionGraph
averaged_steps(const std::vector<ReplicaApart>& apart, const AveragePlan& average);

/// The same of equal replicas; `step` is that of a single one, with data 1.
[[nodiscard]] ExecutionGraph averaged_steps(
    const PlannedStep& one, ExecutionGraph step, const AveragePlan& average,
    std::uint32_t replicas);

}  // namespace switchfold
