// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/execution_trace.h"
#include "workloads/profile/raw_trace.h"
#include "workloads/readers/input/input_file.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace switchfold {

struct KinetoOptions {
    std::vector<std::filesystem::path> files;  ///< one per rank
    std::uint64_t max_inflated = kMostInflated;
};

/// Reads PyTorch Kineto traces, one file per rank. Throws ConfigError naming file and byte.
[[nodiscard]] TraceWorkload read_kineto(const KinetoOptions& options);

/// Reads one file. Operators without shapes get them from `shapes`, the execution trace of the same
/// run, if given. Throws ConfigError.
[[nodiscard]] RawTrace read_raw_trace(
    const std::filesystem::path& file,
    std::uint64_t max_inflated,
    const ExecutionTrace* shapes = nullptr);

}  // namespace switchfold
