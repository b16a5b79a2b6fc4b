// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/schedule/pipeline_schedule.h"
#include "training/plan/schedule/replay.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Age of the weights that a mini-batch sees on a stage; follows from the order alone.
struct WeightAge {
    std::uint32_t forward_missed =
        0;  ///< updates by earlier mini-batches that its forward does not see
    std::uint32_t backward_missed =
        0;                      ///< the same for its backward, if it uses the current weights
    std::uint32_t between = 0;  ///< updates of the stage between the two passes
};

/// Ages by micro-batch, for one stage.
[[nodiscard]] std::vector<WeightAge>
weight_ages(const PipelineSchedule& schedule, std::uint32_t stage);

/// Versions of a stage's weights, including the current one, to keep so that each backward uses the
/// weights of its forward.
[[nodiscard]] std::uint32_t versions_stashed(const PipelineSchedule& schedule, std::uint32_t stage);

/// Number of updates by which SpecTrain predicts ahead according to its paper (Chen et al. 2018),
/// for `stage` of `stages`.
[[nodiscard]] std::uint32_t predicted_forward(std::uint32_t stages, std::uint32_t stage);
[[nodiscard]] std::uint32_t predicted_backward(std::uint32_t stages, std::uint32_t stage);

/// Number of a stage's updates between the begin of `pass` and the begin of the mini-batch's
/// backward on the first stage: the target of SpecTrain's prediction.
[[nodiscard]] std::uint32_t updates_until_round_trip_ends(
    const PipelineSchedule& schedule, const Replay& times, const Pass& pass);

}  // namespace switchfold
