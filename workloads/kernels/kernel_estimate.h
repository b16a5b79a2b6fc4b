// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <string>

namespace switchfold {

/// A kernel as seen by its time model.
struct KernelEstimate {
    /// Ready for the graph: isolated duration, grid, block, registers, shared memory, FLOPs, class.
    /// Its bytes are those that memory would see with an empty L2.
    KernelOperation kernel;
    double l2_bytes = 0;      ///< between SMs and L2, including repeated reads
    double memory_bytes = 0;  ///< that miss the L2 in this state of the cache
    std::string choice;       ///< selected kernel: "128x256, 2 splits"

    [[nodiscard]] double seconds() const { return to_seconds(kernel.isolated); }
};

/// A kernel's duration as a Time. Throws std::invalid_argument from a million seconds on, where
/// byte counts might overflow.
[[nodiscard]] Time kernel_duration(double seconds);

}  // namespace switchfold
