// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/outcome.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// Simulated time (us) per step, or per mini-batch at the steady pace of a pipeline that is never
/// drained.
[[nodiscard]] double round_us(const ExecutionGraph& graph, const Outcome& outcome);

/// Throughput of a generated training step; none for traces and collectives.
struct TrainingPace {
    double samples_per_s = 0;
    double tflops_per_gpu = 0;           ///< by the model's arithmetic
    std::optional<double> bubble_share;  ///< none without a plan's passes
};
[[nodiscard]] std::optional<TrainingPace>
training_pace(const ExecutionGraph& graph, const Outcome& outcome);

}  // namespace switchfold
