// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace switchfold {

/// Work of a core between two barriers, with its duration if nothing else runs.
struct CoreStage {
    double seconds = 0;
    double memory_bytes = 0;
    double ring_bytes = 0;  ///< including those of memory
    double streams = 0;     ///< concurrent streams of memory
};

/// Cores with identical work, stage by stage.
struct CoreGroup {
    std::uint32_t cores = 0;
    std::vector<CoreStage> stages;
};

/// Shared resources of the cores, in bytes per second.
struct SharedRates {
    std::function<double(double streams)> memory;
    double ring = 0;
};

/// End of the last core, s. Between two ends of stages, all active cores are slowed by the same
/// factor, as the demand on memory and ring requires.
[[nodiscard]] double region_seconds(std::vector<CoreGroup> groups, const SharedRates& rates);

}  // namespace switchfold
