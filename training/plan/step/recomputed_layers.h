// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/network.h"
#include "training/plan/step/parallel_plan.h"

#include <cstdint>
#include <vector>

namespace switchfold {

struct LayerRange {
    std::uint32_t first = 0;
    std::uint32_t end = 0;  ///< one past the last
    bool operator==(const LayerRange&) const = default;
};

/// Layers among [first, end) whose forward is repeated right before their backward, each range as
/// one unit: attentions with selective; with full, blocks and the layers between two blocks, in a
/// network without blocks each layer, plan.recompute_every consecutive ones together, or only those
/// that recompute_one_in or recompute_blocks chooses. Layers
/// outside the blocks and the loss are kept (Megatron-LM checkpoints transformer layers only). None
/// with exact: a plan of memory chooses them.
[[nodiscard]] std::vector<LayerRange> recomputed_layers(
    const Network& network, const ParallelPlan& plan, std::uint32_t first, std::uint32_t end);

}  // namespace switchfold
