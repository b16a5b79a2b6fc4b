// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/input/input_file.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>

namespace switchfold {

/// PyTorch's execution trace (ExecutionTraceObserver; schemas 1.0.1 to 1.1.1-chakra): operators
/// with their tensors, without times. It goes with the Kineto trace of the same run and gives the
/// shapes that this one may lack.
struct ExecutionTrace {
    struct Node {
        std::string name;
        std::string input_dims;   ///< raw JSON
        std::string input_types;  ///< raw JSON
    };
    std::string file;
    std::uint64_t nodes = 0;
    /// Those that PyTorch's profiler saw too, by what both number them with ("rf_id").
    std::unordered_map<std::uint64_t, Node> by_record;
};

/// Throws ConfigError: byte, node, what was expected.
[[nodiscard]] ExecutionTrace
read_execution_trace(const std::filesystem::path& file, std::uint64_t most = kMostInflated);

/// Whether a file that begins so is one.
[[nodiscard]] bool is_execution_trace(std::string_view beginning);

}  // namespace switchfold
