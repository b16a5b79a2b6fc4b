// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/access/tensor_uses.h"
#include "training/memory/offload/offload_plan.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// For each step, the last step whose ring space (with that of all earlier steps) must be free so
/// that this step's items fit; nothing if they fit anyway. Space is freed in step order, as in a
/// ring: a step's space when it has ended and its results are copied out. Without `ahead`, no step
/// takes space before the previous one has freed its own. Throws InternalError if the ring does not
/// hold the plan's staging.
[[nodiscard]] std::vector<std::optional<std::uint32_t>> room_waits(
    const TensorUses& schedule, const std::vector<bool>& retained,
    const std::vector<StepMoves>& moves, std::uint64_t ring, bool ahead);

/// Total bytes of items.
[[nodiscard]] std::uint64_t
bytes_of(const TensorUses& schedule, const std::vector<std::uint32_t>& items);

}  // namespace switchfold
