// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>

namespace switchfold {

/// What of a host that nobody saw holds the GPU up: what it paused for, behind which end.
enum class Pauses : std::uint8_t {
    /// With overlap: each operation's own, behind all that it waits for. Ranks with messages that
    /// take their traced time stay as they are: nothing but the pace tells what these wait for.
    kOfEach,
    /// Without overlap: those in which nothing but communication ran.
    kOfCompute,
};

/// Without launching calls a trace says when operations ran, not when the host launched them: the
/// host then paces the GPU by the very times that another machine, or a run without overlap,
/// changes. \returns the graph in which it does not: what remains of it are `pauses`. Ranks whose
/// launches are known and generated ones stay as they are.
[[nodiscard]] ExecutionGraph without_pace(const ExecutionGraph& graph, Pauses pauses);

}  // namespace switchfold
