// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/learning/replicas/replica_times.h"
#include "workloads/learning/task/task.h"
#include "workloads/learning/train/run.h"

#include <cstdint>
#include <filesystem>

namespace switchfold::learning {

/// Trains replicas of the whole network, each with its part of every batch, that average their
/// weights as the task's rule says (not none). A point's loss is that of the mean of all, or of the
/// centre where there is one; its time has the exchange that makes it.
[[nodiscard]] TrainingRun learn_averaged(
    const Task& task,
    const ReplicaTimes& times,
    std::uint64_t seed,
    const std::filesystem::path& folder);

}  // namespace switchfold::learning
