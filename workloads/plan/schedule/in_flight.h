// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/plan/schedule/pipeline_schedule.h"

#include <vector>

namespace switchfold {

/// What a micro-batch's forward leaves behind on a stage, in any unit.
struct Kept {
    double until_input_gradient = 1;   ///< M_B: from the forward to the input gradient
    double until_weight_gradient = 0;  ///< M_W: what the weight gradient still needs after it
    /// What was not kept and is computed again, at its most: in a backward of both gradients, and
    /// in one of the input gradient alone, with what it makes for the weights' on the way.
    double again = 0;
    double again_before_weights = 0;
};

struct InFlight {
    double kept = 0;
    double again = 0;
    [[nodiscard]] double all() const { return kept + again; }
};

/// The most that a device holds at a time; it follows from the order alone. Two passes beside each
/// other count as if both began before one ends. `kept` is by stage, `last` the same of the last
/// micro-batch.
[[nodiscard]] InFlight most_in_flight(
    const PipelineSchedule& schedule,
    std::uint32_t device,
    const std::vector<Kept>& kept,
    const std::vector<Kept>& last);
[[nodiscard]] inline InFlight most_in_flight(
    const PipelineSchedule& schedule, std::uint32_t device, const std::vector<Kept>& kept) {
    return most_in_flight(schedule, device, kept, kept);
}

}  // namespace switchfold
