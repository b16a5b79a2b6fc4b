// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"

namespace switchfold {

/// What the host thread of a rank takes from one call to the next. Nothing begins before its call;
/// calls go on while the GPU computes. All zero: the GPU never waits for its host, as with CUDA
/// graphs.
struct LaunchTimes {
    Time kernel;                   ///< and of a copy
    Time collective;               ///< and of a message
    bool wait_after_pass = false;  ///< it waits for the GPU behind each pass of a stage
    [[nodiscard]] bool any() const {
        return kernel > Time() || collective > Time() || wait_after_pass;
    }
    bool operator==(const LaunchTimes&) const = default;
};

}  // namespace switchfold
