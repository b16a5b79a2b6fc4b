// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/plan/schedule/pipeline_schedule.h"
#include "workloads/plan/schedule/replay.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// How old the weights are that a mini-batch sees on a stage; it follows from the order alone.
struct WeightAge {
    std::uint32_t forward_missed = 0;   ///< updates by earlier mini-batches that its forward misses
    std::uint32_t backward_missed = 0;  ///< and its backward, with the current weights
    std::uint32_t between = 0;          ///< updates of the stage between the two
};

/// By micro-batch, of one stage.
[[nodiscard]] std::vector<WeightAge>
weight_ages(const PipelineSchedule& schedule, std::uint32_t stage);

/// Versions of a stage's weights that must be kept at a time so that each backward finds those of
/// its forward, the current one among them.
[[nodiscard]] std::uint32_t versions_stashed(const PipelineSchedule& schedule, std::uint32_t stage);

/// Updates ahead of the current weights that SpecTrain predicts in the form of its paper (Chen et
/// al. 2018): `stage` of `stages`.
[[nodiscard]] std::uint32_t predicted_forward(std::uint32_t stages, std::uint32_t stage);
[[nodiscard]] std::uint32_t predicted_backward(std::uint32_t stages, std::uint32_t stage);

/// Updates of a stage that end between a pass's begin and the moment at which the mini-batch's
/// backward begins on the first stage: the target of that prediction.
[[nodiscard]] std::uint32_t updates_until_round_trip_ends(
    const PipelineSchedule& schedule, const Replay& times, const Pass& pass);

}  // namespace switchfold
