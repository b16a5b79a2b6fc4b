// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace switchfold {

/// What a core does between two barriers, if nothing else runs.
struct CoreStage {
    double seconds = 0;
    double memory_bytes = 0;
    double ring_bytes = 0;  ///< those of memory included
    double streams = 0;     ///< rows of memory that it walks along
};

/// Cores that do the same, stage after stage.
struct CoreGroup {
    std::uint32_t cores = 0;
    std::vector<CoreStage> stages;
};

/// What the cores share: rates in bytes a second.
struct SharedRates {
    std::function<double(double streams)> memory;
    double ring = 0;
};

/// When the last core is done, s. From one end of a stage to the next all cores that still work are
/// slowed alike, as much as memory and ring ask for.
[[nodiscard]] double region_seconds(std::vector<CoreGroup> groups, const SharedRates& rates);

}  // namespace switchfold
