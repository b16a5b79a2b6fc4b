// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/execution_trace.h"
#include "workloads/readers/input/input_file.h"

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace switchfold {

/// Throws ConfigError (byte, node, what was expected).
[[nodiscard]] ExecutionTrace
read_execution_trace(const std::filesystem::path& file, std::uint64_t most = kMostInflated);

/// Whether a file that begins with these bytes is an execution trace.
[[nodiscard]] bool is_execution_trace(std::string_view beginning);

}  // namespace switchfold
