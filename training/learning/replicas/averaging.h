// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/replicas/replica_times.h"
#include "training/learning/task/task.h"
#include "training/learning/train/run.h"
#include "training/learning/train/watch.h"

#include <cstdint>
#include <filesystem>

namespace switchfold::learning {

/// Trains replicas of the whole network, each on its part of every batch, that average their
/// weights by the task's rule (any but `none`). The loss of a point is that of the mean of all
/// replicas, or of the centre if there is one; its time includes the exchange that produces it.
[[nodiscard]] TrainingRun learn_averaged(
    const Task& task, const ReplicaTimes& times, std::uint64_t seed,
    const std::filesystem::path& folder, const Watch& watch = {});

}  // namespace switchfold::learning
