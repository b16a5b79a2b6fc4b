// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"
#include "sim/machine/outcome.h"
#include "sim/output/result.h"
#include "sim/results/interval_source.h"
#include "sim/uncertainty/figure_intervals.h"
#include "sim/workload/workload.h"
#include "workloads/graph/execution_graph.h"

#include <cstddef>
#include <vector>

namespace switchfold {

/// A scenario's run without its results: what its step is made of.
[[nodiscard]] PartsOfStep parts_of_run(
    const ExecutionGraph& graph, const Outcome& outcome, const SystemParams& system,
    const PreparedWorkload& workload);

/// What one rank's trace leaves open of a scenario without overlap. Pauses that the trace lacks
/// come from waits that it does not show: without them the step is shorter. What messages of other
/// stages hold may shrink by what this rank no longer hides, and other ranks may hide as much as it
/// does.
[[nodiscard]] OpenTime
left_open_by_one_rank(const ScenarioFigures& figures, const OneRankTimes& traced);

/// Says so where it is more than a hundredth of an iteration; else empty.
[[nodiscard]] std::string note_of(const OpenTime& open, double iteration_us);

/// Sets the intervals of a scenario that runs one collective: those of its results are the ranges
/// of cases like it, without draws. \returns whether it does.
[[nodiscard]] bool tell_single_collective(
    const ExecutionGraph& graph, const Outcome& outcome, const SystemParams& system,
    const intervals::Residuals& residuals, ScenarioResult& out);

/// Sets the intervals of a result whose cases these are, or notes why it has none.
void add_intervals(
    std::vector<IntervalCase>& cases, const IntervalSource& source, ExperimentResult& result);

}  // namespace switchfold
