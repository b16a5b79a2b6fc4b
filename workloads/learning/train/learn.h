// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/learning/task/task.h"
#include "workloads/learning/timeline/weight_timeline.h"
#include "workloads/learning/train/run.h"
#include "workloads/plan/step/parallel_plan.h"

#include <cstdint>
#include <filesystem>

namespace switchfold::learning {

/// Trains from a seed with exactly the weights that the passes of the timeline saw under the
/// policy. The timeline has `task.steps` steps at least; its micro-batches, in the order of their
/// numbers, take the samples in order. No problems_of() the task; ConfigError and IoError for its
/// files. `folder`: what paths are relative to.
[[nodiscard]] TrainingRun learn(
    const Task& task,
    WeightPolicy policy,
    const WeightTimeline& timeline,
    std::uint64_t seed,
    const std::filesystem::path& folder);

}  // namespace switchfold::learning
