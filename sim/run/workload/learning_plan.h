// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/learning_params.h"
#include "workloads/plan/step/plan_step.h"

#include <cstdint>

namespace switchfold {

/// Micro-batches of an update, those of all replicas.
[[nodiscard]] std::uint32_t micro_batches_a_step(const PlannedStep& step);
/// Mini-batches in which replicas of stages and updates come round again, where nothing flushes.
[[nodiscard]] std::uint32_t mini_batches_a_turn(const ParallelPlan& plan);
/// At least so many must be simulated to see the steady pace.
[[nodiscard]] std::uint32_t mini_batches_to_see_the_pace(const ParallelPlan& plan);

/// Why a small network cannot be trained along a plan; pointers below the learning's parameters.
[[nodiscard]] PlanProblems why_not_learned(const LearningParams& learning, const PlannedStep& step);

}  // namespace switchfold
