// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/train/watch.h"
#include "training/plan/schedule/pipeline_schedule.h"
#include "training/plan/schedule/replay.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold::learning {

/// A pass or update with its times, from whatever source.
struct RanPass {
    Pass pass;
    std::uint32_t holder =
        0;             ///< executes it; each holder has its own weights of the stages that it holds
    double begin = 0;  ///< seconds
    double end = 0;
};

/// Passes of one run of a schedule, or of several concurrent replicas.
struct RanPasses {
    std::uint32_t stages = 0;
    std::uint32_t micro_batches = 0;
    std::uint32_t a_step = 1;  ///< micro-batches per update
    std::vector<RanPass> passes;
};

/// Passes of a replay; `a_step`: micro-batches per update.
[[nodiscard]] RanPasses
ran_passes(const PipelineSchedule& schedule, const Replay& replay, std::uint32_t a_step);

/// Combines replicas of a pipeline: micro-batch j of replica r out of R becomes micro-batch j R + r
/// if `asynchronous`, otherwise j + r times a replica's number of micro-batches. Holders stay
/// distinct.
[[nodiscard]] RanPasses side_by_side(std::vector<RanPasses> replicas, bool asynchronous);

/// Repeats a step, each repetition `seconds` after the previous one. Looks at the watch step by
/// step.
[[nodiscard]] RanPasses
repeated(const RanPasses& step, std::uint32_t steps, double seconds, const Watch& watch = {});

struct Extended {
    RanPasses passes;
    double moved = 0;     ///< largest shift of a pass that was needed to keep the order, seconds
    double a_period = 0;  ///< time per mini-batch at the steady pace, seconds
};

/// Extends a run that is never drained; `longer` is the same schedule with more mini-batches. The
/// part between `filling` mini-batches at either end is repeated at its mean pace, in units of
/// `turn` mini-batches. Nothing if the run is too short. Looks at the watch pass by pass.
[[nodiscard]] std::optional<Extended> extended(
    const RanPasses& run, const PipelineSchedule& longer, std::uint32_t filling, std::uint32_t turn,
    const Watch& watch = {});

}  // namespace switchfold::learning
