// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/data/samples.h"
#include "training/learning/task/task.h"
#include "training/learning/timeline/weight_timeline.h"
#include "training/learning/train/run.h"
#include "training/learning/train/watch.h"
#include "training/plan/step/parallel_plan.h"

#include <cstdint>

namespace switchfold::learning {

/// Like learn(), on the given samples.
[[nodiscard]] TrainingRun train(
    const Task& task, WeightPolicy policy, const WeightTimeline& timeline, Samples& samples,
    std::uint64_t seed, const Watch& watch = {});

}  // namespace switchfold::learning
