// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/parameters.h"
#include "sim/machine/outcome.h"
#include "sim/output/writers.h"
#include "workloads/graph/execution_graph.h"

#include <string>
#include <vector>

namespace switchfold {

/// A completed scenario.
struct RanScenario {
    const std::string& name;
    const ExecutionGraph& graph;
    const Outcome& outcome;
};

/// Stages kernels.csv, and passes.csv and memory.csv if any scenario runs passes.
void write_tables(ResultFolder& folder, const std::vector<RanScenario>& scenarios);

/// Stages learning.csv and versions.csv if any scenario trained a network.
void write_learning(ResultFolder& folder, const ExperimentResult& result);

/// Stages changes.csv and members.csv if any scenario's members change.
void write_changes(ResultFolder& folder, const ExperimentResult& result);

/// Stages counters.csv if there are any.
void write_counters(ResultFolder& folder, const std::vector<RanScenario>& scenarios);

/// Stages timeline.json.gz. Its header is that of the first scenario;
/// ranks of other scenarios are separate processes.
void write_timeline(
    ResultFolder& folder, const std::vector<RanScenario>& scenarios, const GpuParams& gpu);

}  // namespace switchfold
