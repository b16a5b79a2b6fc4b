// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/coprocessor/processor_params.h"

#include <cstdint>

namespace switchfold {

/// How a program's threads lie on a processor.
struct ThreadLayout {
    std::uint32_t cores = 1;
    std::uint32_t teams_per_core = 1;   ///< teams share out rows; each has a gradient of its own
    std::uint32_t threads_of_team = 1;  ///< on hardware threads of their own
    std::uint32_t nested = 1;           ///< software threads of a region inside a region
    std::uint32_t oversubscribed = 1;   ///< software threads of a hardware thread

    [[nodiscard]] std::uint32_t teams() const { return cores * teams_per_core; }
    [[nodiscard]] std::uint32_t threads_of_core() const { return teams_per_core * threads_of_team; }
    [[nodiscard]] std::uint32_t threads() const { return cores * threads_of_core(); }
};

/// Without regions inside regions the threads of a core are a team. With them each thread is one,
/// and opens regions of `nested` threads, on the core's hardware threads that are left, else on its
/// own.
[[nodiscard]] ThreadLayout layout_of(
    const ProcessorParams& processor,
    std::uint32_t cores,
    std::uint32_t threads_per_core,
    std::uint32_t nested);

/// Levels of a binary tree of so many.
[[nodiscard]] std::uint32_t tree_levels(std::uint32_t members);

/// A region's threads start.
[[nodiscard]] double fork_seconds(const ProcessorParams& processor, std::uint32_t threads);
/// They meet: up the tree and down again.
[[nodiscard]] double barrier_seconds(const ProcessorParams& processor, std::uint32_t threads);

}  // namespace switchfold
