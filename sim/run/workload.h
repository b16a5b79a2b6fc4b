// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/result.h"
#include "sim/run/load.h"
#include "workloads/execution_graph.h"

namespace switchfold {

/// An experiment's workload, ready to run on its machine.
struct PreparedWorkload {
    ExecutionGraph graph;
    WorkloadResult report;
};

/// Reads or makes the workload and fits it to the machine. Throws ConfigError: a group larger than
/// the machine, an algorithm that its switches cannot do, missing ranks.
[[nodiscard]] PreparedWorkload prepare_workload(const LoadedExperiment& loaded);

}  // namespace switchfold
