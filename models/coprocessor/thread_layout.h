// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/coprocessor/processor_params.h"

#include <cstdint>

namespace switchfold {

/// Mapping of a program's threads to a processor.
struct ThreadLayout {
    std::uint32_t cores = 1;            ///< in use
    std::uint32_t teams_per_core = 1;   ///< rows are divided among teams; each has its own gradient
    std::uint32_t cores_of_team = 1;    ///< above 1 only with one team per core
    std::uint32_t threads_of_team = 1;  ///< hardware threads per team, on all of its cores
    std::uint32_t nested = 1;           ///< software threads per nested region
    std::uint32_t oversubscribed = 1;   ///< software threads per hardware thread

    std::uint32_t copies_at_once = 0;  ///< that a thread adds; 0: those with the shortest sum

    [[nodiscard]] std::uint32_t teams() const { return cores / cores_of_team * teams_per_core; }
    /// Threads of a team on one of its cores.
    [[nodiscard]] std::uint32_t threads_beside() const { return threads_of_team / cores_of_team; }
    [[nodiscard]] std::uint32_t threads_of_core() const {
        return teams_per_core * threads_beside();
    }
    [[nodiscard]] std::uint32_t threads() const { return cores * threads_of_core(); }
};

/// Without nested regions, the threads of `team_cores` cores form a team; cores that fill no team
/// are not used. With them, each thread is a team and opens regions of `nested` threads on the
/// core's free hardware threads, or else on its own.
[[nodiscard]] ThreadLayout layout_of(
    const ProcessorParams& processor, std::uint32_t cores, std::uint32_t threads_per_core,
    std::uint32_t nested, std::uint32_t team_cores = 1);

/// Depth of a binary tree over `members`.
[[nodiscard]] std::uint32_t tree_levels(std::uint32_t members);

/// Seconds to start a region's threads.
[[nodiscard]] double fork_seconds(const ProcessorParams& processor, std::uint32_t threads);
/// Seconds of a barrier: up the tree and down again.
[[nodiscard]] double barrier_seconds(const ProcessorParams& processor, std::uint32_t threads);

}  // namespace switchfold
