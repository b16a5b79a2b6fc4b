// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/schedule/in_flight.h"
#include "training/plan/step/layer_work.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Layers whose forward is repeated right before their backward, as one unit.
struct RecomputedLayers {
    std::uint32_t first = 0;
    std::uint32_t end = 0;  ///< one past the last
    /// Bytes that the repeated forward of one micro-batch produces and the backward frees.
    double workspace = 0;
    /// The part of them that a separate weight gradient reads.
    double for_weights = 0;
};

/// Memory that a micro-batch needs on a stage.
struct StageMemory {
    Kept kept;
    std::vector<RecomputedLayers> again;  ///< ascending
};

/// Memory for the layers [first, end). Without recomputation everything that backward reads is
/// kept; with selective, everything except attention scores, which each attention recomputes; with
/// full, what blocks and the layers between two blocks read from outside, and what the loss keeps.
[[nodiscard]] StageMemory stage_memory(
    const Network& network, const LayerWork& layers, const ParallelPlan& plan, std::uint32_t first,
    std::uint32_t end);

}  // namespace switchfold
