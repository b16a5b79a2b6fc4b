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

/// What a rank of a replica holds of the weights.
struct HeldWeights {
    double parameters = 0;
    const KernelTimes* times = nullptr;  ///< of its GPU
};

/// The step of a replica that trains apart.
struct ReplicaApart {
    std::vector<HeldWeights> by_rank;  ///< of the replica
    ExecutionGraph step;               ///< its operations
    std::uint32_t replicas = 1;        ///< consecutive replicas of which it is the step
};

/// What the ranks of a replica hold, each by its own step; plans with data 1.
[[nodiscard]] std::vector<HeldWeights>
held_weights(const std::vector<const TrainingStep*>& by_rank);

/// One period: `every` steps of each replica, and an exchange of their weights in 32 bits, in
/// buckets as the plan's gradients, among the ranks that hold the same part. `plan`: of a replica,
/// with data 1. An overlapping exchange is that of the previous period; its result is applied at
/// the end.
[[nodiscard]] ExecutionGraph averaged_steps(
    const ParallelPlan& plan, const std::vector<ReplicaApart>& apart, const AveragePlan& average);

/// The same of equal replicas; `step` is that of a single one, with data 1.
[[nodiscard]] ExecutionGraph averaged_steps(
    const TrainingStep& one, ExecutionGraph step, const AveragePlan& average,
    std::uint32_t replicas);

}  // namespace switchfold
