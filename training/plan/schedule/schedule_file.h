// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/schedule/pipeline_schedule.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace switchfold {

/// Reads a schedule: {"micro_batches": 4, "routes": [[0, 1]], "order": [["F0", "F1", "BW0", ...],
/// ...]}. `order` lists the passes of each device in the notation of to_string(Pass); "@stage" may
/// be omitted if the device holds one stage, and "F1&BW0" runs both concurrently. `routes` lists
/// the device of each stage, `route_of` the route of each micro-batch if there are several;
/// `asynchronous` is true for a pipeline that is never drained. Throws ConfigError "file: /pointer:
/// what; what was expected" with all problems, including passes that wait for each other.
[[nodiscard]] PipelineSchedule read_schedule(const std::filesystem::path& path);
[[nodiscard]] PipelineSchedule parse_schedule(std::string_view text, const std::string& file);

}  // namespace switchfold
