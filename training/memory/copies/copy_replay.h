// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/offload/offload_plan.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Rates of copies, bytes per second, independent in each direction.
struct CopyRates {
    double in = 12e9;   ///< host to GPU
    double out = 12e9;  ///< GPU to host
};

/// Times (s) of a step: arrival of its data, execution, end of the copies of its results.
struct StepReplay {
    double fetch_begin = 0;
    double fetch_end = 0;
    double begin = 0;
    double end = 0;
    double given_back = 0;  ///< also of all earlier steps
};

struct CopyReplay {
    double seconds = 0;   ///< until the last step and the last copy end
    double compute = 0;   ///< sum over all steps
    double stall = 0;     ///< time that steps wait for data or room, and the end for copies
    double at_least = 0;  ///< lower bound for any order of copies
    std::vector<StepReplay> steps;
};

/// An iteration without contention: copies in and out on one queue each, offloaded items in a ring
/// of `ring` bytes. Data are fetched step by step as soon as the ring has room (room_waits).
/// Without `ahead`, nothing is fetched before the previous step has ended and its outbound copies
/// are done. \pre the ring holds the plan's staging.
[[nodiscard]] CopyReplay replay_copies(
    const TensorUses& schedule, const std::vector<bool>& retained, std::uint64_t ring,
    const CopyRates& rates, bool ahead = true);

/// The plan in `memory` bytes: the ring takes all the rest.
[[nodiscard]] CopyReplay replay_copies(
    const TensorUses& schedule, const OffloadPlan& plan, std::uint64_t memory,
    const CopyRates& rates);

}  // namespace switchfold
