// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/plan/schedule/pipeline_schedule.h"

#include <vector>

namespace switchfold {

/// What a micro-batch's forward leaves behind on a stage, in any unit.
struct Kept {
    double until_input_gradient = 1;   ///< M_B: from the forward to the input gradient
    double until_weight_gradient = 0;  ///< M_W: what the weight gradient still needs after it
};

/// The most activations that a device holds at a time; it follows from the order alone. `kept` is
/// by stage.
[[nodiscard]] double most_in_flight(
    const PipelineSchedule& schedule, std::uint32_t device, const std::vector<Kept>& kept);

}  // namespace switchfold
