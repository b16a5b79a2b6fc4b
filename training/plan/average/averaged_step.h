// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/average/average_plan.h"
#include "training/plan/step/plan_step.h"

#include <cstdint>

namespace switchfold {

/// Reasons why a plan's replicas cannot be averaged: the plan's key ("/average/every") and a
/// sentence.
[[nodiscard]] PlanProblems problems_of(const AveragePlan& average, const ParallelPlan& plan);

/// One period: `every` steps of each of `replicas` replicas, and an exchange of their weights in 32
/// bits, in buckets as the plan's gradients, among the ranks that hold the same part. `one` is the
/// step of a single replica, with data 1, and `step` its operations. An overlapping exchange is that of the previous period;
/// its result is applied at the end.
[[nodiscard]] ExecutionGraph averaged_steps(
    const PlannedStep& one, const ExecutionGraph& step, const AveragePlan& average,
    std::uint32_t replicas);

}  // namespace switchfold
