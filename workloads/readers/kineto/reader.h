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
    std::vector<std::filesystem::path> files;  ///< one a rank
    std::uint64_t max_inflated = kMostInflated;
};

/// Reads PyTorch Kineto traces, one file a rank. Throws ConfigError naming file and byte.
[[nodiscard]] TraceWorkload read_kineto(const KinetoOptions& options);

/// Reads a file. Operators that have no shapes get them from `shapes`, if there are any: the
/// execution trace of the same run. Throws ConfigError.
[[nodiscard]] RawTrace read_raw_trace(
    const std::filesystem::path& file,
    std::uint64_t max_inflated,
    const ExecutionTrace* shapes = nullptr);

}  // namespace switchfold
