// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"

#include <filesystem>
#include <vector>

namespace switchfold::capture {

/// Reads the captures of a run, one a rank, with the second passes that belong to them, as one
/// workload a rank. All of a run's captures together tell which ranks a communicator has; without
/// some of them its groups are guessed from their sizes, and the report says so. Throws ConfigError
/// for what is no capture, a second pass without its first, a rank without kernels.
[[nodiscard]] std::vector<TraceWorkload>
read_captures(const std::vector<std::filesystem::path>& files);

}  // namespace switchfold::capture
