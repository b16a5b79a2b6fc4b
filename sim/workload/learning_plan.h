// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/learning_params.h"
#include "sim/config/plan_params.h"
#include "training/plan/step/plan_step.h"

#include <cstdint>
#include <filesystem>

namespace switchfold {

/// Micro-batches per update, over all replicas.
[[nodiscard]] std::uint32_t micro_batches_a_step(const TrainingStep& step);
/// Mini-batches after which the pattern of stage replicas and updates repeats, without flush.
[[nodiscard]] std::uint64_t mini_batches_a_turn(const ParallelPlan& plan);
/// Least number that must be simulated to see the steady pace.
[[nodiscard]] std::uint64_t mini_batches_to_see_the_pace(const ParallelPlan& plan);

/// The plan with its step's batch divided by learning's shares, rounded to whole samples; as it is
/// if it divides its batch itself, without shares, or if shares are not for such a plan.
[[nodiscard]] PlanParams divided_by_shares(PlanParams plan, const LearningParams& learning);

/// Why a small network cannot be trained along a plan; pointers are relative to the learning's
/// parameters, paths of samples to `folder`. Throws ConfigError and IoError for their contents.
[[nodiscard]] PlanProblems why_not_learned(
    const LearningParams& learning, const TrainingStep& step, const std::filesystem::path& folder);

}  // namespace switchfold
