// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/simulate.h"
#include "sim/machine/system_queries.h"
#include "sim/pool/pool.h"
#include "sim/results/summary.h"

#include <vector>

namespace switchfold {

/// The part of an outcome that `validate collectives` reads.
struct GraphRun {
    std::vector<CollectiveResult> collectives;
};
using GraphRunOptions = SimulateOptions;

[[nodiscard]] inline GraphRun run_graph(
    const SystemParams& system, const ExecutionGraph& graph, const CollectivePolicies& policies,
    const GraphRunOptions& options) {
    return {collective_results(graph, simulate(system, graph, policies, options))};
}

}  // namespace switchfold
