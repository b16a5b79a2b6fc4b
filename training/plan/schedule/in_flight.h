// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/schedule/pipeline_schedule.h"

#include <vector>

namespace switchfold {

/// Memory that a micro-batch's forward leaves behind on a stage, in any unit.
struct Kept {
    double until_input_gradient = 1;   ///< M_B: until the input gradient ends
    double until_weight_gradient = 0;  ///< M_W: the part that the weight gradient still needs
    /// Peak of the recomputed activations: in a backward of both gradients, and in an input
    /// gradient alone, which also produces what the weight gradient needs.
    double again = 0;
    double again_before_weights = 0;
};

struct InFlight {
    double kept = 0;
    double again = 0;
    [[nodiscard]] double all() const { return kept + again; }
};

/// Peak memory of a device, which follows from the order alone. Of two concurrent passes, both
/// begin before either ends. `kept` is by stage; `last` is the same for the last micro-batch.
[[nodiscard]] InFlight most_in_flight(
    const PipelineSchedule& schedule, std::uint32_t device, const std::vector<Kept>& kept,
    const std::vector<Kept>& last);
[[nodiscard]] inline InFlight most_in_flight(
    const PipelineSchedule& schedule, std::uint32_t device, const std::vector<Kept>& kept) {
    return most_in_flight(schedule, device, kept, kept);
}

}  // namespace switchfold
