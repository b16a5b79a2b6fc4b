// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <optional>
#include <string_view>

namespace switchfold {

/// Kind of a collective by its name alone: "AllReduce", "nccl:_all_gather_base", "alltoall_perf".
/// Nothing for sends, receives, barriers and the like.
[[nodiscard]] std::optional<CollectiveKind> collective_named(std::string_view name);

/// Whether the collective's size as nccl-tests counts it is that of all ranks together, where a
/// call of NCCL states the part of one.
[[nodiscard]] bool sums_parts(CollectiveKind kind);

}  // namespace switchfold
