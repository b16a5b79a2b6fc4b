// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/task/task.h"
#include "training/learning/train/run.h"
#include "training/learning/train/watch.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace switchfold::learning {

/// Trains data-parallel replicas, each with its own weights and moments. Each computes its part of
/// every batch; gradients are summed, weighted by samples. Replicas join and leave as the task
/// says. Sums run sample by sample, so any set of replicas gives the same bits as one GPU.
/// `step_ends`: simulated end of each step in seconds, including the time of changes. Throws
/// InternalError if replicas ever differ.
[[nodiscard]] TrainingRun learn_with_members(
    const Task& task, std::uint32_t members, const std::vector<double>& step_ends,
    std::uint64_t seed, const std::filesystem::path& folder, const Watch& watch = {});

}  // namespace switchfold::learning
