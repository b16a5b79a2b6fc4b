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

/// One of the files of a run.
struct KinetoFile {
    std::filesystem::path file;
    std::uint64_t max_inflated = kMostInflated;
    const ExecutionTrace* shapes = nullptr;  ///< of the same run, for operators without shapes
    /// The file's rank if it states none, and the number of files.
    std::uint32_t position = 0;
    std::uint32_t files = 1;
    /// Numbers of the steps to keep; empty: all.
    std::vector<std::int64_t> only_steps = {};
};

/// Reads one file: a trace for each GPU that ran kernels. A file of several ranks that a tool
/// merged (processes "[TP00] 0", "[TP01] 0") gives a trace for each of them. Throws ConfigError.
[[nodiscard]] std::vector<RawTrace> read_raw_traces(const KinetoFile& file);

/// Reads the file of one rank. Throws ConfigError, also if it holds several.
[[nodiscard]] RawTrace read_raw_trace(
    const std::filesystem::path& file, std::uint64_t max_inflated,
    const ExecutionTrace* shapes = nullptr);

}  // namespace switchfold
