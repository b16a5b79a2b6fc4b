// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"

namespace switchfold {

/// Time of a rank's host thread between two calls. Nothing begins before its call; calls continue
/// while the GPU computes. All zero: the GPU never waits for the host, as with CUDA graphs.
struct LaunchTimes {
    Time kernel;                   ///< also of a copy
    Time collective;               ///< also of a message
    bool wait_after_pass = false;  ///< the host waits for the GPU after each pass of a stage
    [[nodiscard]] bool any() const {
        return kernel > Time() || collective > Time() || wait_after_pass;
    }
    bool operator==(const LaunchTimes&) const = default;
};

}  // namespace switchfold
