// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/training/step_rows.h"

#include <filesystem>
#include <string>
#include <vector>

namespace switchfold::validation {

/// A measured step of a plan, and the task that it is one of the ways to do.
struct PlanRow {
    std::string task;
    StepRow step;
};

/// Reads plans by task (docs/validation.md has the columns). What a table does not say, it takes
/// from how the rows of vTrain's other file were measured: Megatron-DeepSpeed, 1F1B, 16 bits.
/// Throws ConfigError with everything that is wrong.
[[nodiscard]] std::vector<PlanRow> read_plan_rows(const std::filesystem::path& path);

/// One replica a GPU.
[[nodiscard]] bool is_pure_data_parallel(const StepRow& row);

}  // namespace switchfold::validation
