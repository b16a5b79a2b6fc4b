// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstddef>

namespace switchfold {

/// One collective waits for another on a rank whose trace shows that it began as that ended. Where
/// another rank shows the contrary, neither waited: both waits are dropped, with which the ranks
/// would wait for each other for ever. \returns how many were dropped.
std::size_t drop_contrary_waits(ExecutionGraph& graph);

}  // namespace switchfold
