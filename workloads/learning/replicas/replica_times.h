// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace switchfold::learning {

/// Simulated times of data-parallel replicas, in seconds.
struct ReplicaTimes {
    std::vector<double> step = {0};  ///< of one's own, by replica
    double exchange = 0;             ///< until all have the mean of all weights
    double with_centre = 0;          ///< until one has sent its weights to a centre and is pulled

    [[nodiscard]] std::uint32_t replicas() const { return static_cast<std::uint32_t>(step.size()); }
};

}  // namespace switchfold::learning
