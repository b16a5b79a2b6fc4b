// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"
#include "workloads/graph/spread.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// Extends a fully traced run of n ranks to `ranks` ranks: rank r does what rank r modulo n did.
/// Groups of all n ranks become groups of all, as the replicas are that the run has more of; so do
/// those that reach to its end, or to that of a pipeline's stage, where stages do. Others are
/// repeated for each n ranks. Throws InternalError unless `ranks` is a multiple of n.
struct Extrapolated {
    std::vector<std::string> notes;  ///< the assumptions made, in words, for the report
    std::vector<std::vector<std::uint32_t>> orbits;  ///< as of Spread
};
/// Folded, the ranks of one copy stand for those of all copies without an unlike rank, which have
/// no operations.
[[nodiscard]] Extrapolated
extrapolate(ExecutionGraph& graph, std::uint32_t ranks, const AskedFold& fold = {});

}  // namespace switchfold
