// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/shortcuts/collective_memo.h"
#include "workloads/graph/execution_graph.h"

namespace switchfold {

/// Which collectives of a step may pass as an earlier one of it did, on a machine without faults.
/// None beside kernels
/// - where some collectives have other ranks than others, and are neither rings nor sums in the
///   switch: members of a recalled tree end as apart as the example's, and groups wait for each other;
/// - where kernels and collectives never wait for each other: which of two ends comes first, by
///   however little, decides how both go on;
/// - where a kernel, an all-gather or reduce-scatter, and the next kernel go one after another,
///   again and again, as in tensor parallelism with `sequence`: what ranks come apart by in one
///   they wait for in the next, and members of a recalled one always end as apart as the example's.
[[nodiscard]] Recall may_recall(const ExecutionGraph& graph);

/// Whether messages of a step may pass as earlier ones over links like theirs did: of a folded
/// step, whose collectives take what they were measured to.
[[nodiscard]] bool may_remember_messages(const ExecutionGraph& graph);

}  // namespace switchfold
