// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/task/task.h"
#include "training/learning/timeline/weight_timeline.h"
#include "training/learning/train/run.h"
#include "training/learning/train/watch.h"
#include "training/plan/step/parallel_plan.h"

#include <cstdint>
#include <filesystem>

namespace switchfold::learning {

/// Trains from a seed, using in each pass exactly the weights that the policy gives it on the
/// timeline. The timeline covers at least `task.steps` steps; its micro-batches take the samples in
/// order of their numbers. \pre problems_of() the task is empty. Throws ConfigError and IoError for
/// its files. Paths are relative to `folder`.
[[nodiscard]] TrainingRun learn(
    const Task& task, WeightPolicy policy, const WeightTimeline& timeline, std::uint64_t seed,
    const std::filesystem::path& folder, const Watch& watch = {});

}  // namespace switchfold::learning
