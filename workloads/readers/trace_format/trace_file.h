// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"
#include "workloads/readers/input/input_file.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace switchfold {

/// switchfold's own trace format: JSON lines, compressed by zstd (docs/traces.md#our-own-format).

/// Writes the workload to `path` atomically; plain lines if the name ends in ".jsonl". The same
/// workload gives the same bytes. `written_by` names the program. Throws IoError.
void write_trace(
    const TraceWorkload& workload, const std::filesystem::path& path, std::string_view written_by);

/// Reads such a file: graph, times and reports equal those written, except that the reports name
/// this file. Throws ConfigError (line, key, what was expected).
[[nodiscard]] TraceWorkload
read_trace(const std::filesystem::path& path, std::uint64_t most = kMostInflated);

/// Whether a file that begins with these (inflated) bytes is such a trace.
[[nodiscard]] bool is_own_trace(std::string_view beginning);

/// JSON Schema of one line.
[[nodiscard]] std::string trace_record_schema();

}  // namespace switchfold
