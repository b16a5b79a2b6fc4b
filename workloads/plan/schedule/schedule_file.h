// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/plan/schedule/pipeline_schedule.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace switchfold {

/// Reads a schedule: {"micro_batches": 4, "routes": [[0, 1]], "order": [["F0", "F1", "BW0", ...],
/// ...]}. `order` has a list of passes for each device, written as to_string(Pass) does; "@stage"
/// may be left out where the device holds one stage, "F1&BW0" runs both at once. `routes` has the
/// device of each stage, `route_of` the route of each micro-batch where there are several,
/// `asynchronous` is true for a pipeline that is never drained. Throws ConfigError "file: /pointer:
/// what; what was expected" with everything that is wrong, passes that wait for each other
/// included.
[[nodiscard]] PipelineSchedule read_schedule(const std::filesystem::path& path);
[[nodiscard]] PipelineSchedule parse_schedule(std::string_view text, const std::string& file);

}  // namespace switchfold
