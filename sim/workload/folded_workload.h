// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/simulate.h"
#include "sim/pool/pool.h"
#include "workloads/fold/folded_graph.h"

#include <string>

namespace switchfold {

class WorkloadContext;

/// Why something on the machine meets every rank, so that none may be left out; empty: nothing
/// does.
[[nodiscard]] std::string why_all_are_met(const WorkloadContext& context);

/// Whether passes are run with all their blocks: those whose kernels' times are drawn need them.
[[nodiscard]] bool whole_passes(const SimulateOptions& options);

/// A folded workload on a machine: simulates its probes in this process, like simulate(),
/// and sets the times of pieces and collectives accordingly.
[[nodiscard]] ExecutionGraph measured_graph(
    const FoldedGraph& folded, const SystemParams& system, const CollectivePolicies& policies,
    const SimulateOptions& options);

/// The same with the probes as jobs, whose errors are rethrown here.
[[nodiscard]] ExecutionGraph measured_graph_apart(
    const FoldedGraph& folded, const SystemParams& system, const CollectivePolicies& policies,
    const SimulateOptions& options, const RunJobs& run);

}  // namespace switchfold
