// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/plan/schedule/pipeline_schedule.h"

#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// What a stage's passes take, in any one unit of time. A backward takes both gradients.
struct StageTimes {
    double forward = 0;
    double input_gradient = 0;
    double weight_gradient = 0;
    double update = 0;
    double together = 0;  ///< a forward beside a backward; 0: one after the other
};

struct ReplayTimes {
    std::vector<StageTimes> stages;
    /// Until a neighbour on another device has what was made; it keeps nobody busy.
    double message = 0;
};

/// When each slot runs if nothing but the order, the dependencies and the given times holds it up.
struct Replay {
    struct Interval {
        double begin = 0;
        double end = 0;
    };
    std::vector<std::vector<Interval>> slots;  ///< by device, as in the order
    double makespan = 0;
    /// The longest device, from its own first pass to its own last but for updates: what a step
    /// costs where steps follow each other.
    double cost = 0;
    /// Part of that time in which devices, on average, run no pass.
    double bubble_share = 0;
};

/// Throws InternalError for a schedule that cannot end: check() comes first.
[[nodiscard]] Replay replay(const PipelineSchedule& schedule, const ReplayTimes& times);

/// Everything that is wrong with a schedule: a pass on a device that its micro-batch does not
/// reach, twice or never, an update before what it needs, passes that wait for each other (the
/// circle is named). Empty: it runs to its end.
[[nodiscard]] std::vector<std::string> problems_of(const PipelineSchedule& schedule);

/// Whether a schedule ends where a device goes on only once its messages have been taken: a receive
/// is posted when what needs it is next.
[[nodiscard]] bool ends_blocking(const PipelineSchedule& schedule);

}  // namespace switchfold
