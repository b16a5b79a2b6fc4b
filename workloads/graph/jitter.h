// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>

namespace switchfold {

/// How GPUs of one kind, and the times of one kernel, differ from each other.
struct Jitter {
    double gpus = 0;     ///< standard deviation of a GPU's kernel times, as a share of the mean
    double kernels = 0;  ///< of a kernel's time around its GPU's
    Time starts;         ///< mean of an exponential delay before each collective of each rank

    [[nodiscard]] bool none() const { return gpus <= 0 && kernels <= 0 && starts <= Time(); }
};

/// Draws each rank's speed, each kernel's time and each collective's delay. Draws depend on the seed
/// and the rank alone, so that a rank is as fast in one workload as in another. A rank that stands
/// for several that wait for each other (`stands_for`) takes the largest of their draws of speeds
/// and delays. Normal draws end at half the mean.
void vary(
    ExecutionGraph& graph, const Jitter& jitter, std::uint64_t seed, std::uint32_t stands_for = 1);

}  // namespace switchfold
