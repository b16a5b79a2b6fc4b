// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"

#include <filesystem>
#include <vector>

namespace switchfold::capture {

/// Reads a run's captures, one per rank, with their second passes, into one workload per rank. The
/// ranks of communicators follow from all captures together; if some are missing, groups are
/// guessed from their sizes and the report says so. Throws ConfigError for a file that is not a
/// capture, a second pass without its first, and a rank without kernels.
[[nodiscard]] std::vector<TraceWorkload>
read_captures(const std::vector<std::filesystem::path>& files);

}  // namespace switchfold::capture
