// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"
#include "workloads/readers/input/input_file.h"

#include <filesystem>
#include <string_view>

namespace switchfold {

/// Reads what a program of nccl-tests printed (all_reduce_perf, ...) as a workload: its rows'
/// collectives one after the other, out of place, each once. One rank, which stands for all that
/// the log lists. Which collective it is, newer versions say; for older ones it follows from the
/// reduction, the root and the ratio of bus to algorithm bandwidth. Throws ConfigError (line).
[[nodiscard]] TraceWorkload
read_nccl_tests(const std::filesystem::path& file, std::uint64_t most = kMostInflated);

/// Whether a file that begins so is such a log.
[[nodiscard]] bool is_nccl_tests(std::string_view beginning);

}  // namespace switchfold
