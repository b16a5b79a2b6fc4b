// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <string>

namespace switchfold {

/// A kernel as the model of its time sees it.
struct KernelEstimate {
    /// Ready for the graph: isolated duration, grid, block, registers, shared memory, bytes read
    /// from and written to the L2 and beyond, operations, class.
    KernelOperation kernel;
    Bytes from_memory;   ///< of the bytes read and written, those that pass the L2: its operands
                         ///< were not in there
    std::string choice;  ///< the kernel that was taken, for people: "128x256x64, 2 splits"

    [[nodiscard]] double seconds() const { return to_seconds(kernel.isolated); }
};

}  // namespace switchfold
