// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/layer.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// The shape of a GPT-style decoder. A sample is one sequence.
struct TransformerShape {
    std::uint32_t blocks = 24;
    std::uint32_t hidden = 2048;
    std::uint32_t sequence = 2048;
    std::uint32_t vocabulary = 50'257;
    std::uint32_t feed_forward = 0;  ///< width inside a block; 0: four times `hidden`
};

/// Layers: embedding; per block two norms, projections, attention (causal: half of the scores) and
/// feed-forward with its activation; the last norm; and the head, which shares the embedding's
/// weights.
[[nodiscard]] std::vector<Layer> transformer_layers(const TransformerShape& shape);

}  // namespace switchfold
