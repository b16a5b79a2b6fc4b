// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// A rank that is slower than the others, or starts its steps later.
struct SlowRank {
    std::uint32_t rank = 0;
    double compute = 1;  ///< factor on the isolated duration of its kernels
    Time delay;          ///< before every step
};

/// Stretches the kernels of such ranks and delays the operations that start a step, that is, those
/// that follow no other operation of the step. Bytes and FLOPs of kernels are unchanged. \pre every
/// rank is one of the graph's.
void slow_down(ExecutionGraph& graph, const std::vector<SlowRank>& slow);

}  // namespace switchfold
