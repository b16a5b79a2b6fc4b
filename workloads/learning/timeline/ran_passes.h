// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/plan/schedule/pipeline_schedule.h"
#include "workloads/plan/schedule/replay.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold::learning {

/// A pass or update as it ran, wherever its times come from.
struct RanPass {
    Pass pass;
    std::uint32_t holder = 0;  ///< who ran it; each has weights of its own of the stages it holds
    double begin = 0;          ///< seconds
    double end = 0;
};

/// Passes of one run of a schedule, or of several replicas beside each other.
struct RanPasses {
    std::uint32_t stages = 0;
    std::uint32_t micro_batches = 0;
    std::uint32_t a_step = 1;  ///< micro-batches of an update
    std::vector<RanPass> passes;
};

/// Of a replay; `updates`: micro-batches of an update.
[[nodiscard]] RanPasses
ran_passes(const PipelineSchedule& schedule, const Replay& replay, std::uint32_t a_step);

/// Replicas of a pipeline train together: micro-batch j of replica r of R becomes micro-batch
/// j R + r if they go on and on, else j + r times those of a replica. Holders are told apart.
[[nodiscard]] RanPasses side_by_side(std::vector<RanPasses> replicas, bool asynchronous);

/// A step again and again, each `seconds` after the one before.
[[nodiscard]] RanPasses repeated(const RanPasses& step, std::uint32_t steps, double seconds);

struct Extended {
    RanPasses passes;
    double moved = 0;     ///< seconds: most that a pass had to move for the order to be kept
    double a_period = 0;  ///< seconds that a mini-batch takes at the steady pace
};

/// A run that was never drained, made longer: `longer` is the same schedule with more mini-batches.
/// What lies between `filling` mini-batches at either end repeats at its mean pace, in units of
/// `turn` mini-batches. Nothing is returned where the run is too short for that.
[[nodiscard]] std::optional<Extended> extended(
    const RanPasses& run,
    const PipelineSchedule& longer,
    std::uint32_t filling,
    std::uint32_t turn);

}  // namespace switchfold::learning
