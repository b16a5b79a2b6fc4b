// SPDX-License-Identifier: Apache-2.0
#include "models/coprocessor/thread_layout.h"

#include <algorithm>
#include <bit>

namespace switchfold {

ThreadLayout layout_of(
    const ProcessorParams& processor, std::uint32_t cores, std::uint32_t threads_per_core,
    std::uint32_t nested, std::uint32_t team_cores) {
    ThreadLayout layout;
    layout.cores = cores;
    if (nested <= 1) {
        layout.cores = cores / team_cores * team_cores;
        layout.cores_of_team = team_cores;
        layout.threads_of_team = team_cores * threads_per_core;
        return layout;
    }
    layout.nested = nested;
    layout.teams_per_core = threads_per_core;
    const std::uint32_t places = std::max(1U, processor.threads_per_core / threads_per_core);
    layout.threads_of_team = std::min(nested, places);
    layout.oversubscribed = (nested + layout.threads_of_team - 1) / layout.threads_of_team;
    return layout;
}

std::uint32_t tree_levels(std::uint32_t members) {
    return members <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(members - 1));
}

double fork_seconds(const ProcessorParams& processor, std::uint32_t threads) {
    return tree_levels(threads) * to_seconds(processor.region_hop);
}

double barrier_seconds(const ProcessorParams& processor, std::uint32_t threads) {
    return 2 * fork_seconds(processor, threads);
}

}  // namespace switchfold
