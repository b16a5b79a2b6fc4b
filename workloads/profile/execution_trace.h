// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace switchfold {

/// PyTorch's execution trace (ExecutionTraceObserver; schemas 1.0.1 to 1.1.1-chakra): operators
/// with their tensors, without times. It complements the Kineto trace of the same run with shapes
/// that the latter may lack.
struct ExecutionTrace {
    struct Node {
        std::string name;
        std::string input_dims;   ///< raw JSON
        std::string input_types;  ///< raw JSON
    };
    std::string file;
    std::uint64_t nodes = 0;
    /// Operators that PyTorch's profiler recorded too, by the number that both use ("rf_id").
    std::unordered_map<std::uint64_t, Node> by_record;
};

}  // namespace switchfold
