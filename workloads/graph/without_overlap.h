// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

namespace switchfold {

/// The same operations, ordered so that no collective runs beside another GPU operation of its
/// rank. Messages between two ranks keep their place. Compute goes first: a collective starts when
/// everything that can run without it has ended, and later work waits for it. Collectives keep
/// their launch order, so all ranks agree. Gaps and host delays are kept.
[[nodiscard]] ExecutionGraph without_overlap(const ExecutionGraph& graph);

}  // namespace switchfold
