// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

namespace switchfold {

/// The same operations such that no collective runs beside any other GPU operation of its rank.
/// Messages between two ranks stay where they are. Compute goes first: a collective starts when everything that can run without it has ended, and
/// what comes after waits for it. Collectives keep their launch order, so all ranks agree. Gaps and
/// host delays stay.
[[nodiscard]] ExecutionGraph without_overlap(const ExecutionGraph& graph);

}  // namespace switchfold
