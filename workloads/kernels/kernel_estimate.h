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
    std::uint32_t waves = 1;  ///< of tiles, one behind the other
    std::string choice;       ///< selected kernel: "128x256, 2 splits"

    [[nodiscard]] double seconds() const { return to_seconds(kernel.isolated); }
};

/// A kernel's duration as a Time. Throws std::invalid_argument from a million seconds on, where
/// byte counts might overflow.
[[nodiscard]] Time kernel_duration(double seconds);

struct GpuRates;

/// Raises the share of bytes that a kernel of a given time finds in the L2, as far as the memory
/// cannot move them in that time: a time that is not the model's says what the model did not know.
void find_in_l2(KernelOperation& kernel, const GpuRates& gpu);

}  // namespace switchfold
