// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/outcome.h"
#include "training/learning/replicas/replica_times.h"
#include "training/learning/timeline/weight_timeline.h"
#include "training/learning/train/watch.h"
#include "training/plan/step/plan_step.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// Times for a training of `steps` steps, from a plan's simulated passes; looks at the watch.
struct LearningTimes {
    learning::WeightTimeline timeline;
    double step_us = 0;  ///< at the steady pace
    std::vector<std::string> notes;
};
[[nodiscard]] LearningTimes learning_times(
    const TrainingStep& step, const ExecutionGraph& graph, const Outcome& outcome,
    std::uint32_t steps, const learning::Watch& watch);

/// Step time of each replica without exchanges, and times of exchanges: the simulated one for all
/// together; for one replica with a centre, derived from the same bus bandwidth.
[[nodiscard]] learning::ReplicaTimes
replica_times(const TrainingStep& step, const ExecutionGraph& graph, const Outcome& outcome);

}  // namespace switchfold
