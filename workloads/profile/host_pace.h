// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"

#include <cstdint>

namespace switchfold {

struct RawTrace;

/// How fast host threads call one thing after the other while they do not wait.
struct HostPace {
    std::uint64_t launches = 0;  ///< of kernels and copies
    Time between;                ///< mean, from the launch before on the same thread
    std::uint64_t calls = 0;     ///< of collectives
    Time until_call;             ///< mean, from the launch before on the same thread
};

/// Leaves out what began before a call that may wait for the GPU and ended behind it, and pauses of
/// more than a millisecond: the host had something else to do.
[[nodiscard]] HostPace host_pace(RawTrace& raw);

}  // namespace switchfold
