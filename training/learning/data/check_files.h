// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/task/task.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace switchfold::learning {

/// Problems of the files that the task's samples come from, found before anything is trained;
/// pointers are relative to the task. Throws ConfigError naming the place in a file, IoError.
[[nodiscard]] std::vector<TaskProblem>
problems_of_files(const Task& task, std::uint64_t seed, const std::filesystem::path& folder);

}  // namespace switchfold::learning
