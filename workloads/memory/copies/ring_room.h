// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/memory/access/access_schedule.h"
#include "workloads/memory/pinning/pinning_plan.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// By step: the last step whose room of the staging ring must have been given back, and that of all
/// steps before it, so that there is room for what this one fetches and makes; none: there is.
/// Room is given back in the order of steps, as in a ring: that of a step when it has ended and
/// what it keeps is copied out. With `ahead` false no step takes room before the one before it has
/// given back its own. The ring has to hold the plan's staging (InternalError).
[[nodiscard]] std::vector<std::optional<std::uint32_t>> room_waits(
    const AccessSchedule& schedule,
    const std::vector<bool>& pinned,
    const std::vector<StepMoves>& moves,
    std::uint64_t ring,
    bool ahead);

/// Of items, together.
[[nodiscard]] std::uint64_t
bytes_of(const AccessSchedule& schedule, const std::vector<std::uint32_t>& items);

}  // namespace switchfold
