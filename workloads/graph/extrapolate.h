// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// Extends a fully traced run of n ranks to `ranks` ranks: rank r does what rank r modulo n did.
/// Groups of all n ranks become groups of all; smaller ones are repeated for each n ranks. Throws
/// InternalError unless `ranks` is a multiple of n. \returns the assumptions made, in words, for
/// the report.
[[nodiscard]] std::vector<std::string> extrapolate(ExecutionGraph& graph, std::uint32_t ranks);

}  // namespace switchfold
