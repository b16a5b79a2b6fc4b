// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace switchfold::learning {

/// Simulated times of data-parallel replicas, in seconds.
struct ReplicaTimes {
    std::vector<double> step = {0};  ///< of a replica's own step, by replica
    double exchange = 0;             ///< until all replicas have the mean weights
    double with_centre =
        0;  ///< until one replica has sent its weights to the centre and received its correction

    [[nodiscard]] std::uint32_t replicas() const { return static_cast<std::uint32_t>(step.size()); }
};

}  // namespace switchfold::learning
