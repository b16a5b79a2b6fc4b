// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>

namespace switchfold {

/// Ranks with messages that take their traced time, since their peers were not traced.
enum class HeldMessages : std::uint8_t {
    kMove,      ///< wait for what had ended when they began, and others for them
    kKeepPace,  ///< nothing but the pace tells when they ran: their ranks stay as they are
};

/// Without launching calls a trace says when operations ran, not when the host launched them: the
/// host then paces the GPU by the very times that another machine, or a run without overlap,
/// changes. \returns the graph in which it does not: what remains of it are pauses in which the
/// whole GPU was idle. Ranks whose launches are known and generated ones stay as they are.
[[nodiscard]] ExecutionGraph without_pace(const ExecutionGraph& graph, HeldMessages held);

}  // namespace switchfold
