// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Sets all pairs from what the group's rank at place `own` sends (or, where that is unknown,
/// receives): every rank sends the same, moved round by its place.
void repeat_parts(UnevenExchange& exchange, std::uint32_t own);

/// Brings the ranks' parts of each uneven all-to-all together: all ranks of one (group, sequence)
/// refer to one exchange. A rank that states other bytes than another and no parts sends equal
/// ones. Pairs that no traced rank states are taken as 0. `numbers` are the ranks of the graph's
/// entries. \returns how many all-to-alls have ranks of different bytes that state no parts. \pre
/// no two entries share a graph, and nobody else holds one
std::uint64_t unite_exchanges(ExecutionGraph& graph, const std::vector<std::uint32_t>& numbers);

}  // namespace switchfold
