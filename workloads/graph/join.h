// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace switchfold {

/// Places the graph's rank r on rank on[r] of a machine; the other ranks do nothing. `on` is
/// ascending, with one entry per rank of the graph.
[[nodiscard]] ExecutionGraph
place_on(const ExecutionGraph& graph, std::span<const std::uint32_t> on);

/// Repeats the graph `times` times. On each rank, a stream's first operation waits until the
/// previous repetition has ended on that rank. Throws InternalError for a graph of overlapping
/// rounds.
[[nodiscard]] ExecutionGraph repeat(const ExecutionGraph& graph, std::uint32_t times);

/// Delays the first operations of each rank by `by`.
void delay(ExecutionGraph& graph, Time by);

/// Joins graphs on disjoint ranks into one; steps and training facts are those of the first. Throws
/// InternalError if two graphs use the same rank.
[[nodiscard]] ExecutionGraph join(std::span<const ExecutionGraph> graphs);

/// The ranks of `part` alone, as they appear in `joined`, with its groups and names. Steps and
/// training facts are the part's.
[[nodiscard]] ExecutionGraph part_of(const ExecutionGraph& joined, const ExecutionGraph& part);

/// The graph's first `steps` steps.
[[nodiscard]] ExecutionGraph first_steps(const ExecutionGraph& graph, std::uint32_t steps);

}  // namespace switchfold
