// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/learning/data/samples.h"
#include "workloads/learning/task/task.h"
#include "workloads/learning/timeline/weight_timeline.h"
#include "workloads/learning/train/run.h"
#include "workloads/learning/train/watch.h"
#include "workloads/plan/step/parallel_plan.h"

#include <cstdint>

namespace switchfold::learning {

/// Like learn(), on the given samples.
[[nodiscard]] TrainingRun train(
    const Task& task,
    WeightPolicy policy,
    const WeightTimeline& timeline,
    Samples& samples,
    std::uint64_t seed,
    const Watch& watch = {});

}  // namespace switchfold::learning
