// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
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

}  // namespace switchfold
