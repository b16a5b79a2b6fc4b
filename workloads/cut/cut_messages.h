// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"
#include "workloads/cut/planned_cut.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// An output that goes to a part on another GPU, or the gradient that comes back from there, whole
/// or a piece of it. Tasks are those of CutTasks.
struct CutMessage {
    bool forward = true;
    std::uint32_t node = 0;  ///< that makes the output
    std::uint32_t from = 0;  ///< GPU of the replica
    std::uint32_t to = 0;
    Bytes bytes;
    std::uint64_t tag = 0;              ///< no other message has it
    std::vector<std::uint32_t> makers;  ///< tasks that it waits for
    std::vector<std::uint32_t> takers;  ///< tasks that wait for it
    /// The receive is posted once this task has ended; none: from the begin on.
    std::optional<std::uint32_t> after;
    /// Its place in the step: behind this task of the order, which is there for makers and `after`.
    std::uint32_t behind = 0;
};

/// All messages of a step. Both ends take them in this order, so that no two wait for each other.
/// Receives are posted when what needs them is next on its part, or a task ahead, as the plan says.
[[nodiscard]] std::vector<CutMessage> cut_messages(const PlannedCut& cut);

}  // namespace switchfold
