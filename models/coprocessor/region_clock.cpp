// SPDX-License-Identifier: Apache-2.0
#include "models/coprocessor/region_clock.h"

#include <algorithm>
#include <limits>

namespace switchfold {

namespace {

/// Progress of a group.
struct Walk {
    std::uint32_t cores = 0;
    std::vector<CoreStage> stages;
    std::size_t at = 0;
    double left = 1;  ///< share of the stage that remains
    [[nodiscard]] bool done() const { return at == stages.size(); }
    [[nodiscard]] const CoreStage& stage() const { return stages[at]; }
};

/// Slowdown of the active cores relative to running alone.
double slowdown(const std::vector<Walk>& walks, const SharedRates& rates) {
    double memory = 0;
    double ring = 0;
    double streams = 0;
    for (const Walk& walk : walks) {
        if (walk.done())
            continue;
        const double pace = walk.cores / walk.stage().seconds;
        memory += pace * walk.stage().memory_bytes;
        ring += pace * walk.stage().ring_bytes;
        if (walk.stage().memory_bytes > 0)
            streams += walk.cores * walk.stage().streams;
    }
    double slow = 1;
    if (memory > 0)
        slow = std::max(slow, memory / rates.memory(streams));
    if (ring > 0)
        slow = std::max(slow, ring / rates.ring);
    return slow;
}

}  // namespace

double region_seconds(std::vector<CoreGroup> groups, const SharedRates& rates) {
    std::vector<Walk> walks;
    for (CoreGroup& group : groups) {
        // Stages of zero time move no data.
        std::erase_if(group.stages, [](const CoreStage& stage) { return stage.seconds <= 0; });
        if (group.cores > 0 && !group.stages.empty())
            walks.push_back({group.cores, std::move(group.stages), 0, 1});
    }
    double now = 0;
    for (;;) {
        const double slow = slowdown(walks, rates);
        double next = std::numeric_limits<double>::infinity();
        for (const Walk& walk : walks)
            if (!walk.done())
                next = std::min(next, walk.left * walk.stage().seconds * slow);
        if (next == std::numeric_limits<double>::infinity())
            return now;
        now += next;
        for (Walk& walk : walks) {
            if (walk.done())
                continue;
            // Compared in seconds, like `next`, so that the group that ends is recognised.
            const double rest = walk.left * walk.stage().seconds * slow - next;
            if (rest > 0) {
                walk.left = rest / (walk.stage().seconds * slow);
                continue;
            }
            ++walk.at;
            walk.left = 1;
        }
    }
}

}  // namespace switchfold
