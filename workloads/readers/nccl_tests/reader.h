// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"
#include "workloads/readers/input/input_file.h"

#include <filesystem>

namespace switchfold {

/// Reads what a program of nccl-tests printed (all_reduce_perf, ...) as a workload: its rows'
/// collectives one after the other, out of place, each once. One rank, which stands for all that
/// the log lists. Throws ConfigError as read_nccl_logs() does.
[[nodiscard]] TraceWorkload
read_nccl_tests(const std::filesystem::path& file, std::uint64_t most = kMostInflated);
/// The same of what it wrote as JSON. Throws ConfigError as read_nccl_json_log() does.
[[nodiscard]] TraceWorkload
read_nccl_json(const std::filesystem::path& file, std::uint64_t most = kMostInflated);

}  // namespace switchfold
