// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

namespace switchfold {

/// Time of a rank's host thread between two calls. Nothing begins before its call; calls continue
/// while the GPU computes. All zero: the GPU never waits for the host, as with CUDA graphs.
struct LaunchTimes {
    Time kernel;                   ///< also of a copy
    Time collective;               ///< also of a message
    bool wait_after_pass = false;  ///< the host waits for the GPU after each pass of a stage
    /// The host waits for the GPU before and after layers that are recomputed as one unit, forward
    /// and backward.
    bool wait_around_recomputed = false;
    /// The host waits for the GPU before the launches of `batch`.
    bool wait_for_batch = false;
    // Launches besides the kernels of layers: of kernels that take the GPU a few microseconds.
    std::uint32_t batch = 0;       ///< before each forward pass of a stage: copies of tokens, masks
    std::uint32_t vocabulary = 0;  ///< of an embedding that tensor-parallel ranks divide
    std::uint32_t loss = 0;        ///< of the loss: masks of targets, mean over tokens
    [[nodiscard]] bool any() const {
        return kernel > Time() || collective > Time() || wait_after_pass ||
               wait_around_recomputed || wait_for_batch;
    }
    bool operator==(const LaunchTimes&) const = default;
};

}  // namespace switchfold
