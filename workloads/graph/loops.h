// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// A loop of kernels beside a loop of collectives on every rank: each on a stream of its own, both
/// begun together, and neither waits for the other.
struct Loops {
    std::vector<KernelOperation> kernel;  ///< by rank
    CollectiveOperation collective;       ///< over all ranks
    std::string kernel_name;
    std::string collective_name;
    std::uint32_t kernels = 0;
    std::uint32_t collectives = 0;
};

/// Ranks with equal kernels share a graph. Each round launches the collective before the kernel.
[[nodiscard]] ExecutionGraph loops_graph(const Loops& loops);

}  // namespace switchfold
