// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace switchfold {

/// The graph's rank r as rank on[r] of a machine; the ranks between do nothing. `on` ascends and
/// has as many ranks as the graph.
[[nodiscard]] ExecutionGraph
place_on(const ExecutionGraph& graph, std::span<const std::uint32_t> on);

/// The graph `times` times. On each rank, what a stream does first waits until all of the
/// repetition before has ended there. Throws InternalError for a graph of rounds that overlap.
[[nodiscard]] ExecutionGraph repeat(const ExecutionGraph& graph, std::uint32_t times);

/// What each rank does first begins so much later.
void delay(ExecutionGraph& graph, Time by);

/// Graphs that stand on ranks of their own, as one; steps and facts of training are the first's.
/// Throws InternalError if two do something on the same rank.
[[nodiscard]] ExecutionGraph join(std::span<const ExecutionGraph> graphs);

/// The ranks of `part` alone, as they stand in `joined`: the same groups and names. Steps and facts
/// of training are the part's.
[[nodiscard]] ExecutionGraph part_of(const ExecutionGraph& joined, const ExecutionGraph& part);

/// The first steps of a graph.
[[nodiscard]] ExecutionGraph first_steps(const ExecutionGraph& graph, std::uint32_t steps);

}  // namespace switchfold
