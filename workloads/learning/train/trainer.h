// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/learning/timeline/weight_timeline.h"
#include "workloads/learning/train/run.h"
#include "workloads/learning/train/task.h"

#include <cstdint>

namespace switchfold::learning {

/// Trains with exactly the weights that the passes of the timeline saw under the policy. The
/// timeline has `task.steps` steps at least; its micro-batches, in the order of their numbers, take
/// the samples in order. No problems_of() the task.
[[nodiscard]] TrainingRun train(
    const Task& task,
    WeightPolicy policy,
    const WeightTimeline& timeline,
    Samples& samples,
    std::uint64_t seed);

}  // namespace switchfold::learning
