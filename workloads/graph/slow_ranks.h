// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// A rank that is slower, or comes later, than the others.
struct SlowRank {
    std::uint32_t rank = 0;
    double compute = 1;  ///< its kernels take so many times as long alone
    Time delay;          ///< before every step
};

/// Stretches the kernels of such ranks, and puts their delay before all that a step begins with:
/// what follows no other operation of that step. Bytes and arithmetic of kernels stay. \pre every
/// rank is one of the graph's.
void slow_down(ExecutionGraph& graph, const std::vector<SlowRank>& slow);

}  // namespace switchfold
