// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/machine/outcome.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// Simulated time of a step, or of a mini-batch at the steady pace of a pipeline that is never
/// drained, us.
[[nodiscard]] double round_us(const ExecutionGraph& graph, const Outcome& outcome);

/// What a generated step of training reaches. None for traces and collectives.
struct TrainingPace {
    double samples_per_s = 0;
    double tflops_per_gpu = 0;           ///< of the model's arithmetic
    std::optional<double> bubble_share;  ///< none without the passes of a plan
};
[[nodiscard]] std::optional<TrainingPace>
training_pace(const ExecutionGraph& graph, const Outcome& outcome);

}  // namespace switchfold
