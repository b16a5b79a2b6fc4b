// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/parameters.h"
#include "sim/output/writers.h"
#include "sim/run/machine/outcome.h"
#include "workloads/graph/execution_graph.h"

#include <string>
#include <vector>

namespace switchfold {

/// A scenario that has run.
struct RanScenario {
    const std::string& name;
    const ExecutionGraph& graph;
    const Outcome& outcome;
};

/// Stages kernels.csv, and passes.csv and memory.csv where a scenario runs passes.
void write_tables(ResultFolder& folder, const std::vector<RanScenario>& scenarios);

/// Stages learning.csv and versions.csv where a scenario trained along.
void write_learning(ResultFolder& folder, const ExperimentResult& result);

/// Stages changes.csv and members.csv where a scenario's members change.
void write_changes(ResultFolder& folder, const ExperimentResult& result);

/// Stages timeline.json.gz and counters.csv. The timeline's head is of the first scenario; ranks of
/// another are processes of their own.
void write_timeline(
    ResultFolder& folder, const std::vector<RanScenario>& scenarios, const GpuParams& gpu);

}  // namespace switchfold
