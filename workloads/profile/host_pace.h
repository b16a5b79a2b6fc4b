// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

#include <cstdint>

namespace switchfold {

struct RawTrace;

/// Pace at which host threads issue calls while they do not wait.
struct HostPace {
    std::uint64_t launches = 0;  ///< of kernels and copies
    Time between;                ///< mean time since the previous launch on the same thread
    std::uint64_t calls = 0;     ///< of collectives
    Time until_call;             ///< mean time since the previous launch on the same thread
};

/// Excludes intervals that contain the start of a call that may wait for the GPU, and pauses of
/// more than a millisecond, in which the host did something else.
[[nodiscard]] HostPace host_pace(RawTrace& raw);

}  // namespace switchfold
