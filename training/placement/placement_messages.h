// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "training/placement/placed_step.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// A transfer between parts on different GPUs: an output, or the gradient that returns for it,
/// whole or one piece. Tasks are indices into PlacementTasks.
struct PlacementMessage {
    bool forward = true;
    std::uint32_t node = 0;  ///< producer of the output
    std::uint32_t from = 0;  ///< GPU within the replica
    std::uint32_t to = 0;
    Bytes bytes;
    std::uint64_t tag = 0;              ///< unique
    std::vector<std::uint32_t> makers;  ///< tasks that it waits for
    std::vector<std::uint32_t> takers;  ///< tasks that wait for it
    /// The receive is posted after this task; none: at the begin.
    std::optional<std::uint32_t> after;
    /// Position in the step: after this task in the order, which comes no earlier than `makers` and
    /// `after`.
    std::uint32_t behind = 0;
};

/// All messages of a step, in the order in which both ends issue them, which prevents deadlocks.
/// Receives are posted when their task is next on its part, or one task ahead, as the plan says.
[[nodiscard]] std::vector<PlacementMessage> placement_messages(const PlacedStep& cut);

}  // namespace switchfold
