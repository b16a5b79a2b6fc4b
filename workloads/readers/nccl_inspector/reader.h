// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"
#include "workloads/readers/input/input_file.h"

#include <filesystem>
#include <vector>

namespace switchfold {

/// Reads the logs of NCCL's Inspector (a profiler plugin: ext-profiler/inspector), which list each
/// collective, send and receive with size and time, those of all processes of a run together. A
/// workload a rank. Throws ConfigError (line).
[[nodiscard]] std::vector<TraceWorkload> read_nccl_inspector(
    const std::vector<std::filesystem::path>& files, std::uint64_t most = kMostInflated);

}  // namespace switchfold
