// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/list_schedule.h"
#include "training/plan/schedule/pipeline_schedule.h"

#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// Times of a stage's passes, in any unit. A backward computes both gradients.
struct StageTimes {
    double forward = 0;
    double input_gradient = 0;
    double weight_gradient = 0;
    double update = 0;
    double together = 0;  ///< of a concurrent forward and backward; 0: one after the other
};

struct ReplayTimes {
    std::vector<StageTimes> stages;
    /// Latency of a message to a neighbouring device; occupies neither device.
    double message = 0;
};

/// Begin and end of each slot if only the order, the dependencies and the given times delay it.
struct Replay {
    std::vector<std::vector<ListSchedule::Times>> slots;  ///< by device, in schedule order
    double makespan = 0;
    /// The longest span of a device from its first pass to its last, updates excluded: the cost of
    /// a step if steps follow each other.
    double cost = 0;
    /// Share of that time in which devices are idle, on average.
    double bubble_share = 0;
};

/// Throws InternalError for a schedule that deadlocks: call problems_of() first.
[[nodiscard]] Replay replay(const PipelineSchedule& schedule, const ReplayTimes& times);

/// Everything wrong with a schedule: a pass on a device that its micro-batch does not visit, a
/// duplicate or missing pass, an update before its gradients, passes that wait for each other (with
/// the cycle). Empty: the schedule completes.
[[nodiscard]] std::vector<std::string> problems_of(const PipelineSchedule& schedule);

/// Whether a schedule completes if a device continues only after its messages are received and a
/// receive is posted only when its pass is next.
[[nodiscard]] bool ends_blocking(const PipelineSchedule& schedule);

}  // namespace switchfold
