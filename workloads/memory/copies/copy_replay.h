// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/memory/pinning/pinning_plan.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Bytes a second that copies get, each direction by itself.
struct CopyRates {
    double in = 12e9;   ///< host to GPU
    double out = 12e9;  ///< GPU to host
};

/// When a step's data came, when it ran and when what it left had gone; seconds.
struct StepReplay {
    double fetch_begin = 0;
    double fetch_end = 0;
    double begin = 0;
    double end = 0;
    double given_back = 0;  ///< and that of all steps before it
};

struct CopyReplay {
    double seconds = 0;         ///< until the last step and the last copy end
    double compute = 0;         ///< of all steps
    double stall = 0;           ///< steps waited for data or room, and the end for copies
    double at_least = 0;        ///< no order of copies is faster
    std::vector<StepReplay> steps;
};

/// An iteration without contention: copies in and out on a queue each, what is not pinned in a ring
/// of `ring` bytes. Steps' data are fetched one step after the other as soon as the ring has room
/// (room_waits). With `ahead` false nothing is fetched before the step before has ended and its
/// copies out are done. The ring has to hold the plan's staging.
[[nodiscard]] CopyReplay replay_copies(
    const AccessSchedule& schedule,
    const std::vector<bool>& pinned,
    std::uint64_t ring,
    const CopyRates& rates,
    bool ahead = true);

/// The plan in `memory` bytes: all that it leaves is the ring's.
[[nodiscard]] CopyReplay replay_copies(
    const AccessSchedule& schedule,
    const PinningPlan& plan,
    std::uint64_t memory,
    const CopyRates& rates);

}  // namespace switchfold
