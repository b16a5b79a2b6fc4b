// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/learning/task/task.h"
#include "workloads/learning/train/run.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace switchfold::learning {

/// Trains data-parallel replicas each of which has weights and moments of its own, computes its
/// part of every batch and adds up the gradients of all, weighted by samples; replicas join and
/// leave as the task says. Sums run sample by sample, so whoever takes part gives the bits of one
/// GPU. `step_ends`: simulated seconds, of each of the task's steps; the caller's timing of the
/// changes is in them. InternalError if replicas ever differ.
[[nodiscard]] TrainingRun learn_with_members(
    const Task& task,
    std::uint32_t members,
    const std::vector<double>& step_ends,
    std::uint64_t seed,
    const std::filesystem::path& folder);

}  // namespace switchfold::learning
