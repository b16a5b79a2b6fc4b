// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/training/step_rows.h"

#include <filesystem>
#include <string>
#include <vector>

namespace switchfold::validation {

/// A measured step of a plan, and the task that it performs.
struct PlanRow {
    std::string task;
    StepRow step;
};

/// Reads plans by task (docs/validation.md lists the columns). Values that a table does not state
/// are taken from vTrain's other file: Megatron-DeepSpeed, 1F1B, 16 bits. Throws ConfigError with
/// all problems.
[[nodiscard]] std::vector<PlanRow>
read_plan_rows(const std::filesystem::path& path, const std::filesystem::path& root);

/// Whether every GPU is a replica.
[[nodiscard]] bool is_pure_data_parallel(const StepRow& row);

}  // namespace switchfold::validation
