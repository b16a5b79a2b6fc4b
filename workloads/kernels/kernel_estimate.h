// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <string>

namespace switchfold {

/// A kernel as the model of its time sees it.
struct KernelEstimate {
    /// Ready for the graph: isolated duration, grid, block, registers, shared memory, operations,
    /// class; bytes read and written as memory would see them if nothing lay in the L2.
    KernelOperation kernel;
    double l2_bytes = 0;      ///< that SMs draw from the L2 and write to it, repeats included
    double memory_bytes = 0;  ///< that pass the L2 in this state of the cache
    std::string choice;       ///< the kernel that was taken: "128x256, 2 splits"

    [[nodiscard]] double seconds() const { return to_seconds(kernel.isolated); }
};

/// A kernel's duration in the graph's unit. Throws std::invalid_argument from a million seconds on:
/// its bytes may not fit their counts.
[[nodiscard]] Time kernel_duration(double seconds);

}  // namespace switchfold
