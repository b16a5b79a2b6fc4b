// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/runtime/settings.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace switchfold::capture {

/// What the user asked switchfold-capture for.
struct FrontOptions {
    std::filesystem::path out = "capture";
    bool counters = false;   ///< a second run of the command that counts DRAM bytes
    bool nccl_only = false;  ///< NCCL's calls and no kernels
    std::filesystem::path cupti;
    std::vector<std::string> command;
};

/// Variables that the program is to find in its environment.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// What makes CUDA, NVTX and NCCL load the capture libraries, which lie in `folder`. Throws
/// ConfigError with every problem: a library that is not there, another profiler in the
/// environment.
[[nodiscard]] Variables capture_variables(
    const FrontOptions& options,
    const std::filesystem::path& folder,
    const Environment& environment,
    bool counters_pass);

/// Where libcupti lies: the option, a library path of the environment, CUDA_HOME, /usr/local/cuda.
/// Empty if nowhere; the program may still bring its own, as PyTorch does.
[[nodiscard]] std::filesystem::path
find_cupti(const std::filesystem::path& given, const Environment& environment);

/// Makes the folder. Throws ConfigError if it holds captures, which nothing may mix with.
void prepare_output(const std::filesystem::path& out);
/// The captures in the folder, by name.
[[nodiscard]] std::vector<std::filesystem::path> captures_in(const std::filesystem::path& out);

}  // namespace switchfold::capture
