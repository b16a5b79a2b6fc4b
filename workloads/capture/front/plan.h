// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/runtime/settings.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace switchfold::capture {

/// Options of switchfold-capture.
struct FrontOptions {
    std::filesystem::path out = "capture";
    bool counters = false;   ///< a second run of the command that counts DRAM bytes
    bool nccl_only = false;  ///< NCCL's calls, without kernels
    std::filesystem::path cupti;
    std::vector<std::string> command;
};

/// Environment variables for the program.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// Variables that make CUDA, NVTX and NCCL load the capture libraries in `folder`. Throws
/// ConfigError with all problems: a missing library, another profiler in the environment.
[[nodiscard]] Variables capture_variables(
    const FrontOptions& options, const std::filesystem::path& folder,
    const Environment& environment, bool counters_pass);

/// Finds libcupti: from the option, a library path in the environment, CUDA_HOME or
/// /usr/local/cuda. Empty if not found; the program may still load its own, as PyTorch does.
[[nodiscard]] std::filesystem::path
find_cupti(const std::filesystem::path& given, const Environment& environment);

/// Creates the folder. Throws ConfigError if it already holds captures, which must not be mixed.
void prepare_output(const std::filesystem::path& out);
/// The captures in the folder, by name.
[[nodiscard]] std::vector<std::filesystem::path> captures_in(const std::filesystem::path& out);

}  // namespace switchfold::capture
