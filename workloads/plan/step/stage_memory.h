// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/plan/schedule/in_flight.h"
#include "workloads/plan/step/layer_work.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Layers whose forward runs again right before their backward, which goes through them as one.
struct RecomputedLayers {
    std::uint32_t first = 0;
    std::uint32_t end = 0;  ///< behind the last
    /// Bytes of one micro-batch that this makes and their backward frees: what was not kept.
    double workspace = 0;
    /// What of them a separate weight gradient reads.
    double for_weights = 0;
};

/// What a micro-batch needs of a stage's memory.
struct StageMemory {
    Kept kept;
    std::vector<RecomputedLayers> again;  ///< ascending
};

/// Of the layers from `first` until before `end`. Recompute none keeps all that backward reads;
/// selective all but the scores of attention, which each attention computes again; full what comes
/// into blocks, and into the layers between two blocks, from outside, and what the loss keeps.
[[nodiscard]] StageMemory stage_memory(
    const Network& network,
    const LayerWork& layers,
    const ParallelPlan& plan,
    std::uint32_t first,
    std::uint32_t end);

}  // namespace switchfold
